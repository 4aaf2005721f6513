import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Canaries, createCanary, type Finding, findCanaries } from '../support/canaries.js';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { prepareFileDay, resultPath } from '../support/file-day.js';
import { createHostileService, fatalAnswers } from '../support/hostile-service.js';
import { type HostileSftp, startHostileSftp } from '../support/hostile-sftp.js';
import type { StandInHandler } from '../support/http-stand-in.js';
import { listFiles } from '../support/leaks.js';
import { fakeTimeNeeds, startingAt } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { findFreePort } from '../support/sftp-server.js';

const guests = {
  erased: createCanary('Quokka'),
  poison: createCanary('Wombat'),
  other: createCanary('Numbat'),
};
const secrets = {
  apiKey: createCanary('key'),
  accountId: createCanary('account'),
  sftpPassword: createCanary('password'),
  hookSecret: createCanary('a-secret-of-the-hook-'),
  hookToken: createCanary('a-token-of-the-hook-'),
  hashKey: createCanary('a-key-of-the-hash-'),
};
const references = { erased: createCanary('REF') };
const env = {
  API_KEY: secrets.apiKey,
  ACCOUNT_ID: secrets.accountId,
  SFTP_PASSWORD: secrets.sftpPassword,
  HOOK_SECRET: secrets.hookSecret,
  HOOK_TOKEN: secrets.hookToken,
  HASH_KEY: secrets.hashKey,
};
/** The secrets are in the environment, not in the configuration file. */
const variable = (name: keyof typeof env) => `\${${name}}`;
const settings = {
  service: { apiKey: variable('API_KEY'), accountId: variable('ACCOUNT_ID') },
  hook: { secret: variable('HOOK_SECRET'), token: variable('HOOK_TOKEN') },
  hashKey: variable('HASH_KEY'),
  retry: { tries: 8 },
  body: { batchSize: 8, concurrency: 1 },
  maxRefusedShare: 0.5,
};

const bookings = makeBookings(30).map((booking, index) => ({
  ...booking,
  BookingClientName: [guests.erased, guests.poison][index] ?? `${guests.other} the ${index}th`,
  ...(index === 0 && { BookingReferenceId: references.erased }),
}));
const csv = toCsv(bookings);
const traced = ['--log-level', 'trace', '--stack-trace'];
const runTraced = ['run', '--day', day, '--json', ...traced];

/** What somebody wrote, by where. */
type Texts = Map<string, string | Uint8Array>;

/** Searches everything that was written so far; in the places that may hold a guest's name, for the secrets only. */
function search(
  folder: DayFolder,
  texts: Texts,
  canaries: Canaries,
  mayHold: (path: string) => boolean,
): readonly (Finding & { where: string })[] {
  const found: (Finding & { where: string })[] = [];
  const look = (where: string, bytes: string | Uint8Array, searched: Canaries) => {
    for (const finding of findCanaries(Buffer.from(bytes), searched)) found.push({ where, ...finding });
  };
  for (const [where, text] of texts) look(where, text, canaries);
  for (const path of listFiles(folder.path)) {
    const name = relative(folder.path, path);
    look('a file name', name, canaries);
    // What we wrote ourselves.
    if (path === folder.bookingsFile || name === 'key') continue;
    look(name, readFileSync(path), mayHold(path) ? secrets : canaries);
  }
  return found;
}

/** Runs every command that shows something, and keeps what it printed. */
async function lookAtEverything(folder: DayFolder, texts: Texts): Promise<void> {
  for (const args of [
    ['status'],
    ['status', day, '--json'],
    ['show', references.erased],
    ['show', 'BR-2', '--json'],
    ['affected', day],
    ['affected', day, '--unanswered', '--json'],
    ['rejected', day, '--json'],
    ['suspects', day],
    ['verify', day],
    ['audit', '--json'],
    ['privacy'],
    ['doctor', '--day', day],
    ['brands'],
    ['hook', '--day', day],
    ['run', '--dry-run', '--day', day],
  ]) {
    const { stdout, stderr } = await folder.run([...args, ...traced], { env });
    texts.set(args.join(' '), `${stdout}${stderr}`);
  }
}

/** The pages, the metrics and the log of `serve`, and its answers to those who send it names. */
async function serveAndLook(folder: DayFolder, texts: Texts, whileServing: () => void): Promise<void> {
  const port = await findFreePort();
  const serving = folder.start(['serve', '--port', `${port}`, ...traced], { env });
  await serving.wrote('"serving"');
  const ask = async (path: string, options: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
    texts.set(
      `${options.method ?? 'GET'} ${path}`,
      `${JSON.stringify([...response.headers])} ${await response.text()}`,
    );
  };
  const authorization = `Bearer ${secrets.hookToken}`;
  const post = (body: string, headers: Record<string, string>) =>
    ask('/hooks/end-of-day', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  for (const path of ['/', `/days/${day}`, '/metrics', '/healthz', '/readyz', '/days', '/status'])
    for (const accept of ['text/html', 'application/json'])
      await ask(path, { headers: { accept, cookie: guests.other } });
  await ask(`/days/${guests.other}?name=${guests.other}`).catch(() => {});
  await post(`{"day":"${guests.other}"}`, { authorization });
  await post(guests.other, { authorization });
  await post(`{"day":"${day}"}`, {
    'webhook-id': guests.other,
    'webhook-timestamp': '1',
    'webhook-signature': guests.other,
  });
  await post(`{"day":"${day}"}`, { authorization: `Bearer ${guests.other}` });
  whileServing();
  serving.kill('SIGTERM');
  const { stdout, stderr } = await serving.ended;
  texts.set('the log of serve', `${stdout}${stderr}`);
}

interface Place {
  readonly location: string;
  readonly categories: readonly string[];
}

/** Whether `privacy` says that this file may hold guests' names. */
async function readPlaces(folder: DayFolder): Promise<(path: string) => boolean> {
  const { json } = await folder.run(['privacy', '--json'], { env });
  const { places } = json as { readonly places: readonly Place[] };
  const named = places
    .filter(({ categories }) => categories.includes('guest-names'))
    .map(({ location }) => location);
  return (path) =>
    !path.endsWith('manifest.json') &&
    named.some(
      (location) =>
        path.startsWith(`${location}/`) || ['', '-wal', '-shm'].some((part) => path === location + part),
    );
}

/** What remains of the guests as time passes and when one of them asks. */
async function expectGone(folder: DayFolder): Promise<void> {
  const nowhere = () => false;
  const erased = { erased: guests.erased };
  expect(search(folder, new Map(), erased, nowhere).length).toBeGreaterThan(0);
  const texts: Texts = new Map();
  let left: readonly object[] | undefined;
  // A server that refuses a request leaves something for the next time.
  for (let time = 1; left?.length !== 0; time += 1) {
    expect(time).toBeLessThan(6);
    const args = ['guest', 'erase', references.erased, '--reason', 'asked', '--json'];
    const { json, stdout, stderr } = await folder.run(args, { env });
    texts.set(`guest erase ${time}`, stdout + stderr);
    ({ left } = json as { readonly left: readonly object[] });
  }
  expect(search(folder, texts, erased, nowhere)).toEqual([]);

  if (fakeTimeNeeds !== undefined) return;
  const later = (days: number) => ({
    asProcess: true,
    env: { ...env, ...startingAt(new Date(Date.now() + days * 86_400_000).toISOString()) },
  });
  expect(search(folder, new Map(), guests, nowhere).length).toBeGreaterThan(0);
  expect(await folder.run(['guest', 'purge', '--json'], later(40))).toMatchObject({
    exitCode: 0,
    json: { left: [] },
  });
  expect(search(folder, new Map(), guests, nowhere)).toEqual([]);
  expect(search(folder, new Map(), references, nowhere).length).toBeGreaterThan(0);
  expect((await folder.run(['guest', 'purge', '--json'], later(900))).exitCode).toBe(0);
  expect(search(folder, new Map(), references, nowhere)).toEqual([]);
}

describe('guests and secrets of a night are only where privacy says, and nowhere once they are erased or due:', () => {
  it('by body, at a service that quotes every request', async () => {
    let answer: StandInHandler = createHostileService(guests.poison);
    const { folder, standIn } = await prepareDay({ bookings: csv, settings }, (request, number) =>
      answer(request, number),
    );
    const texts: Texts = new Map();
    for (const fatal of fatalAnswers) {
      answer = fatal;
      const { exitCode, stdout, stderr } = await folder.run(runTraced, { env });
      expect(exitCode).toBe(1);
      texts.set(`run ${texts.size}`, stdout + stderr);
    }
    answer = createHostileService(guests.poison);
    const { report, stdout, stderr } = await folder.run(runTraced, { env });
    texts.set('run', stdout + stderr);
    expect(report.counts).toMatchObject({ delivered: 29, refused: 1 });
    expect(JSON.stringify(standIn.accepted())).toContain(guests.erased);
    const mayHold = await readPlaces(folder);
    await serveAndLook(folder, texts, () =>
      expect(search(folder, new Map(), { ...guests, ...secrets }, mayHold)).toEqual([]),
    );
    await lookAtEverything(folder, texts);
    expect(search(folder, texts, { ...guests, ...secrets }, mayHold)).toEqual([]);
    const answers = await folder.run(['show', references.erased, '--answers', ...traced], { env });
    const others = { poison: guests.poison, other: guests.other, ...secrets };
    expect(
      search(folder, new Map([['show --answers', answers.stdout + answers.stderr]]), others, mayHold),
    ).toEqual([]);
    await expectGone(folder);
  });

  describe('by file,', () => {
    let server: HostileSftp;
    beforeAll(async () => {
      server = await startHostileSftp({ username: 'acme', password: variable('SFTP_PASSWORD') }, () =>
        Object.values(guests).join(' '),
      );
    });
    afterAll(() => server.stop());

    it('at a service and an SFTP server that quote everything', async () => {
      const hostile = createHostileService(guests.poison);
      const { folder } = await prepareFileDay(server, {
        bookings: csv.replace('Hotelbeds,004A', ',004A'),
        settings,
        onPost: hostile,
        async onCall(call) {
          const quote = `${call.file} ${JSON.stringify(env)}`;
          if (call.number === 1) return { kind: 'text', status: 500, body: quote };
          const name = `20112026\u001b[2J${guests.other}_Result.csv`;
          writeFileSync(join(server.disk('VerifyMappings/112026'), name), quote);
          await call.writeResult({ affected: ['BR-3'] });
          return { kind: 'json', body: { Status: true, StatusCode: 2000, Message: quote } };
        },
      });
      const texts: Texts = new Map();
      for (const number of [1, 2, 3]) {
        const { stdout, stderr, exitCode } = await folder.run(runTraced, { env });
        texts.set(`run ${number}`, stdout + stderr);
        if (exitCode === 0) break;
      }
      expect([...texts.values()].at(-1)).toContain('"state":"succeeded"');
      expect(server.quoted()).toBeGreaterThan(5);
      expect(readFileSync(server.disk(resultPath), 'utf8')).toContain(guests.erased);
      const mayHold = await readPlaces(folder);
      await serveAndLook(folder, texts, () => {});
      await lookAtEverything(folder, texts);
      expect(search(folder, texts, { ...guests, ...secrets }, mayHold)).toEqual([]);
      await expectGone(folder);
    });
  });
});
