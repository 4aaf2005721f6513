import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from 'vitest';
import { type Canaries, createCanary, type Finding, findCanaries } from './canaries.js';
import { type DayFolder, day } from './day-folder.js';
import { listFiles } from './leaks.js';
import { fakeTimeNeeds, startingAt } from './machine.js';
import { makeBookings, toCsv } from './made-bookings.js';
import { findFreePort } from './sftp-server.js';

/** Guests whose names occur nowhere else. */
export const guests = {
  erased: createCanary('Quokka'),
  poison: createCanary('Wombat'),
  other: createCanary('Numbat'),
};
/** What nobody but the other side of each connection may see. */
export const secrets = {
  apiKey: createCanary('key'),
  accountId: createCanary('account'),
  sftpPassword: createCanary('password'),
  hookSecret: createCanary('a-secret-of-the-hook-'),
  hashKey: createCanary('a-key-of-the-hash-'),
  slackToken: createCanary('slack'),
  teamsToken: createCanary('teams'),
  pagerdutyKey: createCanary('pagerduty'),
  smtpPassword: createCanary('smtp'),
  notifySecret: `whsec_${Buffer.from(createCanary('a secret of notifications')).toString('base64')}`,
};
export const references = { erased: createCanary('REF') };
export const env = {
  API_KEY: secrets.apiKey,
  ACCOUNT_ID: secrets.accountId,
  SFTP_PASSWORD: secrets.sftpPassword,
  HOOK_SECRET: secrets.hookSecret,
  HASH_KEY: secrets.hashKey,
  SLACK_TOKEN: secrets.slackToken,
  TEAMS_TOKEN: secrets.teamsToken,
  PAGERDUTY_KEY: secrets.pagerdutyKey,
  SMTP_PASSWORD: secrets.smtpPassword,
  NOTIFY_SECRET: secrets.notifySecret,
};
/** The secrets are in the environment, not in the configuration file. */
export const variable = (name: keyof typeof env) => `\${${name}}`;
export const settings = {
  service: { apiKey: variable('API_KEY'), accountId: variable('ACCOUNT_ID') },
  hook: { secret: variable('HOOK_SECRET') },
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
export const csv = toCsv(bookings);
export const traced = ['--log-level', 'trace', '--stack-trace'];
export const metricsFile = 'night.prom';
export const runTraced = ['run', '--day', day, '--json', '--metrics-file', metricsFile, ...traced];

/** What was written, by place. */
export type Texts = Map<string, string | Uint8Array>;

/** Searches everything that was written so far; in the places that may hold a guest's name, for the secrets only. */
export function search(
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
    // Written by the test itself.
    if (path === folder.bookingsFile) continue;
    look(name, readIfThere(path), mayHold(path) ? secrets : canaries);
  }
  return found;
}

/** A file that a running process has just removed holds nothing. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Runs every command that shows something, and keeps what it printed. */
export async function lookAtEverything(
  folder: DayFolder,
  texts: Texts,
  variables: NodeJS.ProcessEnv = env,
): Promise<void> {
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
    ['run', '--dry-run', '--day', day],
  ]) {
    const { stdout, stderr } = await folder.run([...args, ...traced], { env: variables });
    texts.set(args.join(' '), `${stdout}${stderr}`);
  }
}

/** The pages, the metrics and the log of `serve`, and its answers to those who send it names. */
export async function serveAndLook(
  folder: DayFolder,
  texts: Texts,
  whileServing: () => void,
  variables: NodeJS.ProcessEnv = env,
): Promise<void> {
  const port = await findFreePort();
  const serving = folder.start(['serve', '--port', `${port}`, ...traced], { env: variables });
  await serving.wrote('"serving"');
  const ask = async (path: string, options: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, options);
    texts.set(
      `${options.method ?? 'GET'} ${path} (${texts.size})`,
      `${JSON.stringify([...response.headers])} ${await response.text()}`,
    );
  };
  const authorization = `Bearer ${secrets.hookSecret}`;
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
export async function readPlaces(
  folder: DayFolder,
  variables: NodeJS.ProcessEnv = env,
): Promise<(path: string) => boolean> {
  const { json } = await folder.run(['privacy', '--json'], { env: variables });
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
export async function expectGone(folder: DayFolder): Promise<void> {
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
