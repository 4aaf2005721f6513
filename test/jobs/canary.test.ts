import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import {
  type ArrivingRequest,
  refusal,
  type StandInAnswer,
  type StandInHandler,
  success,
} from '../support/http-stand-in.js';
import { bookingsHeader, makeBookings, toCsv } from '../support/made-bookings.js';

const guest = 'Canaria Zwitscherfink';
const secrets = {
  HOTEL_REVIEW_API_KEY: 'canary-key-5f0c7e3b',
  HOTEL_REVIEW_ACCOUNT_ID: 'canary-account-91d4',
};

const bookings = makeBookings(60).map((booking) => ({ ...booking, BookingClientName: guest }));
const csv = toCsv(bookings);
const poisoned = 'BR-17';

/** Where the guest's name may be in the folder: in the source, which is not ours, and in the ledger. */
const mayHoldNames = /^(?:bookings-2026-11-20\.csv|ledger\.db(?:-wal|-shm)?)$/;

const traced = ['--log-level', 'trace', '--stack-trace'];

/** A day on which every guest has this name, and commands whose whole output is checked. */
async function watchDay(handler?: StandInHandler, settings: Settings = {}, content: string | Buffer = csv) {
  const { standIn, folder } = await prepareDay(
    {
      bookings: content,
      settings: {
        ...settings,
        service: { apiKey: `\${HOTEL_REVIEW_API_KEY}`, accountId: `\${HOTEL_REVIEW_ACCOUNT_ID}` },
      },
    },
    handler,
  );
  const results: CommandResult[] = [];
  const start = (...args: string[]) => folder.start(args, { env: secrets });
  const run = async (...args: string[]): Promise<CommandResult> => {
    const result = await folder.run(args, { env: secrets });
    results.push(result);
    return result;
  };

  /** Runs and queries the day in every output format, and checks everything written meanwhile. */
  async function runAndLook(expectedExit: number): Promise<void> {
    expect((await run('run', '--day', day)).exitCode).toBe(expectedExit);
    expect((await run('run', '--day', day, '--json', ...traced)).exitCode).toBe(expectedExit);
    await look();
  }

  async function look(): Promise<void> {
    await Promise.all([run('status', day, ...traced), run('show', poisoned, '--json', ...traced)]);
    for (const { stdout, stderr } of results)
      expectSilence(`${stdout}${stderr}`, [guest, ...Object.values(secrets)]);
    await expectSilentFiles(folder);
  }

  return { standIn, folder, run, start, look, runAndLook };
}

function expectSilence(text: string | Buffer, words: readonly string[]): void {
  // Half of a name is personal data too.
  const parts = words.flatMap((word) => [word, ...word.split(' ')]);
  expect(parts.filter((part) => text.includes(part))).toEqual([]);
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function expectSilentFiles({ path, temporaryFolder }: DayFolder): Promise<void> {
  for (const file of await listFiles(path)) {
    const bytes = await readFile(file);
    expectSilence(`${file}`, [guest, ...Object.values(secrets)]);
    expectSilence(bytes, Object.values(secrets));
    if (!mayHoldNames.test(basename(file))) expectSilence(bytes, [guest]);
  }
  expect(await readdir(temporaryFolder)).toEqual([]);
}

/** All bytes of the ledger, in all its files. */
async function readLedger({ ledgerFile }: DayFolder): Promise<string> {
  const folder = join(ledgerFile, '..');
  const files = (await listFiles(folder)).filter((file) => file.startsWith(ledgerFile));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('');
}

async function echo(request: ArrivingRequest): Promise<string> {
  return `${request.rawHeaders.join(' ')} ${(await request.readBody()).toString()}`;
}

describe('guests and secrets do not leak', () => {
  it('in a good run: the name is only in the ledger, and secrets reach only the service', async () => {
    const { standIn, folder, run, runAndLook } = await watchDay();
    await run('status');
    await runAndLook(0);
    expect(standIn.accepted()).toHaveLength(60);
    for (const { BookingClientName } of standIn.accepted()) expect(BookingClientName).toBe(guest);
    for (const { rawHeaders } of standIn.requests)
      expect(rawHeaders).toEqual(expect.arrayContaining(Object.values(secrets)));
    expect(await readLedger(folder)).toContain(guest);
  });

  it.each([
    ['403', 403, 1],
    ['400', 400, 1],
    ['500', 500, 1],
    ['302', 302, 1],
    ['an unreadable 200', 200, 1],
  ])('when %s echoes the whole call', async (_, status, expectedExit) => {
    const { folder, run, runAndLook } = await watchDay(
      async (request): Promise<StandInAnswer> => ({
        kind: 'text',
        status,
        body: await echo(request),
        headers: { location: `http://127.0.0.1:9/?guest=${encodeURIComponent(guest)}` },
      }),
      { retry: { tries: 2 } },
    );
    await runAndLook(expectedExit);
    // A person who asks for the service's words gets them, but still without secrets.
    const answers = await run('show', poisoned, '--answers');
    expectSilence(answers.stdout, Object.values(secrets));
    expectSilence(await readLedger(folder), Object.values(secrets));
    expect(answers.stdout).toContain(guest);
  });

  it.each([2001, 2003, 2009, 2999])(
    'when a Message inside a 200 with %i names the guest and the key',
    async (code) => {
      const { run, runAndLook } = await watchDay(
        async (request) => refusal(code, `no hotel for ${guest}; you are ${await echo(request)}`),
        { retry: { tries: 2 } },
      );
      await runAndLook(1);
      const { stdout } = await run('show', poisoned, '--answers');
      expect(stdout).toContain(`no hotel for ${guest}`);
      expectSilence(stdout, Object.values(secrets));
    },
  );

  it('when one booking is refused by a Message that names the guest', async () => {
    const { folder, run, runAndLook } = await watchDay(async (request) => {
      const hotels = await request.readHotels();
      const isPoison = hotels.some(({ BookingReferenceId }) => BookingReferenceId === poisoned);
      return isPoison ? refusal(2009, `no hotel for ${guest}`) : success;
    });
    for (const args of [['status'], ['status', '--json'], ['status', day, '--json'], ['show', poisoned]])
      await run(...args);
    await runAndLook(0);
    expect((await run('show', poisoned, '--answers')).stdout).toContain(`no hotel for ${guest}`);
    expect(await readLedger(folder)).toContain(`no hotel for ${guest}`);
  });

  it('when the service hangs and the calls time out', async () => {
    const { runAndLook } = await watchDay(() => ({ kind: 'hang' }), {
      retry: { tries: 1 },
      body: { timeoutSeconds: 0.3 },
    });
    await runAndLook(1);
  });

  it.each([
    ['a quote that is never closed', csv.replace(`BR-9,${guest}`, `BR-9,"${guest}`)],
    ['no header', csv.replace(`${bookingsHeader}\n`, '')],
    ['a header that names the guest twice', csv.replace(bookingsHeader, `ServiceId,${guest},${guest}`)],
    ['shifted cells', csv.replaceAll(`,${guest},`, `,${guest},${guest},`)],
    ['the name instead of the id', csv.replaceAll(/^\d+,/gm, `${guest},`)],
    ['the name instead of the dates', csv.replaceAll('2026-12-01', guest)],
    ['a half-quoted name', csv.replaceAll(guest, `"${guest}" ${guest}`)],
    ['a NUL after the name', csv.replace(guest, `${guest}\0`)],
    ['invalid UTF-8 after the name', Buffer.from(csv.replace(guest, `${guest}\xe9`), 'latin1')],
  ])('when the source is broken: %s', async (_, content) => {
    const { standIn, run, runAndLook } = await watchDay(undefined, {}, content);
    expect((await run('run', '--day', day, '--dry-run', '--json', ...traced)).exitCode).toBe(1);
    await runAndLook(1);
    expect(standIn.connections).toBe(0);
  });

  it('when the configuration is wrong', async () => {
    const { folder, run, look } = await watchDay();
    const password = 'canary-password-77aa';
    await folder.configure({ service: { baseUrl: `https://user:${password}@service.example.com/api/3.0` } });
    const withPassword = await run('run', '--day', day, ...traced);
    expect(withPassword.exitCode).toBe(2);
    expectSilence(`${withPassword.stdout}${withPassword.stderr}`, [password]);
    await folder.configure({ service: { apiKey: `\${HOTEL_REVIEW_API_KEY}\n` } });
    expect((await run('run', '--day', day, '--json', ...traced)).exitCode).toBe(2);
    await folder.configure({ service: { timeoutSeconds: `\${HOTEL_REVIEW_API_KEY}` } });
    expect((await run('run', '--day', day, '--json', ...traced)).exitCode).toBe(2);
    await folder.configure({});
    await look();
  });

  it('when the process is killed in mid-call and the next one resumes', async () => {
    let hangs = true;
    const { standIn, start, look, runAndLook } = await watchDay(() => (hangs ? { kind: 'hang' } : success));
    const command = start('run', '--day', day, ...traced);
    await standIn.received(2);
    command.kill('SIGKILL');
    const { stdout, stderr } = await command.ended;
    expectSilence(`${stdout}${stderr}`, [guest, ...Object.values(secrets)]);
    await look();
    hangs = false;
    await runAndLook(0);
  });

  it('when the process is stopped in mid-call', async () => {
    const { standIn, start, look } = await watchDay(() => ({ kind: 'hang' }));
    const command = start('run', '--day', day, '--json', ...traced);
    await standIn.received(2);
    command.kill('SIGTERM');
    const { stdout, stderr } = await command.ended;
    expectSilence(`${stdout}${stderr}`, [guest, ...Object.values(secrets)]);
    await look();
  });

  it('when the ledger is not a database', async () => {
    const { folder, run } = await watchDay();
    await mkdir(dirname(folder.ledgerFile));
    await writeFile(folder.ledgerFile, csv);
    const result = await run('run', '--day', day, '--json', ...traced);
    expect(result.exitCode).toBe(2);
    expectSilence(`${result.stdout}${result.stderr}`, [guest, ...Object.values(secrets)]);
  });

  it('in a dry run: its sample is masked, and nothing is left behind', async () => {
    const { standIn, run, look } = await watchDay();
    await run('run', '--day', day, '--dry-run', ...traced);
    await run('run', '--day', day, '--dry-run', '--json');
    await look();
    expect(standIn.connections).toBe(0);
  });

  it('in a dry run with --out: the requested bodies have names, but no secrets', async () => {
    const { folder, run } = await watchDay();
    const result = await run('run', '--day', day, '--dry-run', '--out', 'out', '--json', ...traced);
    expectSilence(`${result.stdout}${result.stderr}`, [guest, ...Object.values(secrets)]);
    const files = await listFiles(join(folder.path, 'out'));
    expect(files).toHaveLength(3);
    const bytes = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
    expect(bytes).toContain(guest);
    expectSilence(bytes, Object.values(secrets));
    expect(await readdir(folder.temporaryFolder)).toEqual([]);
  });
});

it('the ledger and its companion files are readable only by their owner, during the run and afterwards', async () => {
  let hangs = true;
  const { standIn, folder, start, run } = await watchDay(() => (hangs ? { kind: 'hang' } : success));
  const modes = async () => {
    const files = (await listFiles(join(folder.ledgerFile, '..'))).filter((file) => !file.includes('.locks'));
    const found = await Promise.all(
      files.map(async (file) => [basename(file), (await stat(file)).mode & 0o777]),
    );
    return Object.fromEntries(found) as Record<string, number>;
  };
  const command = start('run', '--day', day);
  await standIn.received(2);
  expect(await modes()).toEqual({ 'ledger.db': 0o600, 'ledger.db-wal': 0o600, 'ledger.db-shm': 0o600 });
  expect((await stat(join(folder.ledgerFile, '..'))).mode & 0o777).toBe(0o700);
  command.kill('SIGKILL');
  await command.ended;
  hangs = false;
  expect((await run('run', '--day', day)).exitCode).toBe(0);
  for (const mode of Object.values(await modes())) expect(mode).toBe(0o600);
});
