import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, inject, it, vi } from 'vitest';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { type FileDay, prepareFileDay, sftpSettings } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { listFiles } from '../support/leaks.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { findFreePort } from '../support/sftp-server.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);
const guest = 'Cañária Quetzal';
const spellings = [
  guest,
  guest.toUpperCase(),
  guest.toLowerCase(),
  guest.normalize('NFD'),
  'Quetzal, Cañária',
  'Canaria Quetzal',
  'QUETZAL CANARIA',
  'Ca\\u00f1\\u00e1ria',
  'Ca&ntilde;&aacute;ria',
  encodeURIComponent(guest),
];
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: guest } : booking,
);
const others = { hashKey: 'a key of the tests', schedule: { cron: '0 0 1 1 *', catchUpDays: 0 } };
const modes: [string, Settings][] = [
  ['plain', {}],
  ['encrypted', { keys: './keys' }],
];
const erase = ['guest', 'erase', 'BR-2', '--reason', 'ticket 7', '--json'];

/** The files under a folder that hold the guest in some spelling. */
function findGuest({ path, bookingsFile }: FileDay['folder']): string[] {
  return listFiles(path).filter((file) => {
    if (file === bookingsFile) return false;
    const bytes = readFileSync(file);
    return [...spellings, 'uetzal', 'UETZAL'].some((spelling) => bytes.includes(spelling));
  });
}

/** A result that names the guest in columns of its own. */
const nameInResult = (file: Buffer = Buffer.alloc(0)) =>
  parseRecords(file).map((row) => ({
    ...row,
    ...Object.fromEntries(
      spellings.map((text, at) => [`Note${at}`, row.BookingReferenceId === 'BR-2' ? text : 'x']),
    ),
  }));

/** A day by file whose result names the guest, or has not come. */
async function prepareByFile(settings: Settings, isAnswered = true) {
  return prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { ...others, ...settings, file: { resultTimeoutMinutes: isAnswered ? 60 : 0.005 } },
    async onCall(call) {
      const records = call.number === 1 ? { records: nameInResult(call.file) } : {};
      if (isAnswered) await call.writeResult({ ...records, affected: ['BR-2'] });
      return success;
    },
  });
}

const archivedIn = ({ path }: FileDay['folder']) =>
  listFiles(join(path, 'data', 'archive', day))
    .map((file) => basename(file))
    .filter((name) => !name.startsWith('.'));

describe.each(modes)('an erased guest, %s,', (_, keys) => {
  it('is in no answer of the service, whatever batch it is about, and nobody is shown the others', async () => {
    const { folder } = await prepareDay(
      { bookings: toCsv(bookings), settings: { ...others, ...keys, body: { batchSize: 1, concurrency: 1 } } },
      async (request) => {
        const number = Number(/"BR-(\d)"/.exec(`${await request.readBody()}`)?.[1]);
        const message = number === 6 ? 'fine' : `for ${spellings[number + 3]}`;
        return { kind: 'json', body: { Status: true, Message: message, StatusCode: 2000 } };
      },
    );
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
    expect((await folder.run(['show', 'BR-6', '--answers'])).stdout).toContain('fine');
    expect(await folder.run(erase)).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(findGuest(folder)).toEqual([]);
    for (const [reference, isLeft] of [
      ['BR-5', false],
      ['BR-6', true],
    ] as const) {
      const { stdout } = await folder.run(['show', reference, '--answers']);
      expect(stdout).not.toMatch(/uetzal|fine/i);
      expect(stdout.includes('(not shown: ')).toBe(isLeft);
    }
  });

  it.each([
    ['the name', []],
    ['everything', ['--all']],
  ])('is gone with the result that names them in any spelling: %s', async (_what, what) => {
    const { folder, listRemote } = await prepareByFile(keys);
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    const dry = await folder.run([...erase, ...what, '--dry-run']);
    const erased = await folder.run([...erase, ...what]);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(JSON.parse(erased.stdout).erased).toEqual(JSON.parse(dry.stdout).erased);
    expect(findGuest(folder)).toEqual([]);
    expect(archivedIn(folder)).toEqual(['manifest.json']);
    expect(listRemote()).toEqual([]);
    expect(await folder.run(['verify', day])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('because a guest was erased'),
    });
  });

  it.each([
    ['the name', []],
    ['everything', ['--all']],
  ])('stays away when a result comes later: %s', async (_what, what) => {
    const { folder, service, listRemote } = await prepareByFile(keys, false);
    expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
    expect(await folder.run([...erase, ...what])).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(findGuest(folder)).toEqual([]);
    expect(listRemote()).toEqual([]);
    const [call] = service.calls;
    await call?.writeResult({ records: nameInResult(call.file), affected: ['BR-2', 'BR-5'] });
    const { report } = await folder.runDay();
    expect(report).toMatchObject({ state: 'succeeded', file: { resultName: '20112026_Result.csv' } });
    expect(findGuest(folder)).toEqual([]);
    expect(archivedIn(folder)).toEqual(['manifest.json']);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    const affected = await folder.run(['affected', day, '--json']);
    const named = affected.json as { affected: { BookingReferenceId?: string }[]; unanswered: number };
    expect(named.unanswered).toBe(0);
    expect(named.affected.map(({ BookingReferenceId }) => BookingReferenceId).sort()).toEqual(
      what.length === 0 ? ['BR-2', 'BR-5'] : ['BR-5', undefined],
    );
    // What the service has put there since is removed by asking again.
    expect(await folder.run([...erase, ...what])).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(listRemote()).toEqual([]);
  });
});

describe('guest erase', () => {
  it('leaves a run alone that has something left to send, until it is given up; a replay took the place of an earlier one', async () => {
    let calls = 0;
    const { folder } = await prepareDay(
      { bookings: toCsv(bookings), settings: { ...others, body: { batchSize: 1, concurrency: 1 } } },
      async () => {
        calls += 1;
        return calls > 3 ? { kind: 'text', status: 401, body: `no ${guest}` } : success;
      },
    );
    expectReport(await folder.runDay(), { exitCode: 1, state: 'failed' });
    for (const options of [['--dry-run'], []])
      expect(await folder.run([...erase, ...options])).toMatchObject({
        exitCode: 1,
        json: {
          left: [
            { day, place: 'ledger', why: expect.stringMatching(/`run 2026-11-20`.*`cancel 2026-11-20`/) },
          ],
        },
      });
    calls = 0;
    expect((await folder.run(['replay', day, '--reason', 'x', '--json'])).exitCode).toBe(1);
    const left = await folder.run(erase);
    // The replay sends no name. Its answer is about a guest of the day.
    expect(left.json).toMatchObject({ left: [] });
    expect(findGuest(folder)).toEqual([]);
  });

  // Where processes share the work, a run that only waits is nobody's.
  if (inject('engine') === 'embedded')
    it('leaves a day alone on which another process works', async () => {
      const { folder, service } = await prepareFileDay(server(), {
        bookings: toCsv(bookings),
        settings: others,
        onCall: () => success,
      });
      const running = folder.start(['run', '--day', day]);
      await vi.waitUntil(() => service.calls.length > 0, { timeout: patienceMs });
      expect(await folder.run(erase)).toMatchObject({
        exitCode: 1,
        json: { left: [{ day, place: 'ledger', why: expect.stringContaining('is being worked on') }] },
      });
      running.kill('SIGTERM');
      await running.ended;
      expect(await folder.run(erase)).toMatchObject({ exitCode: 0, json: { left: [] } });
      expect(findGuest(folder)).toEqual([]);
    });

  it('removes whole folders of runs that the ledger does not know, and names those of nobody', async () => {
    const { folder } = await prepareByFile({});
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
    const archive = join(folder.path, 'data', 'archive', day);
    const [known = ''] = readdirSync(archive);
    cpSync(join(archive, known), join(archive, '20261120-lost'), { recursive: true });
    cpSync(join(archive, known), join(archive, '20261120-unmarked'), {
      recursive: true,
      filter: (path) => !basename(path).startsWith('.account-'),
    });
    writeFileSync(
      join(folder.path, 'data', 'spool', '20261120-lost.csv'),
      `BookingReferenceId\nBR-2,${guest}\n`,
    );
    const erased = await folder.run(erase);
    expect(erased).toMatchObject({
      exitCode: 1,
      json: {
        left: [{ runId: '20261120-unmarked', place: 'archive', why: expect.stringContaining('has no mark') }],
      },
    });
    expect(findGuest(folder).every((path) => path.includes('20261120-unmarked'))).toBe(true);
    expect(readdirSync(join(archive, '20261120-lost')).filter((name) => !name.startsWith('.'))).toEqual([
      'manifest.json',
    ]);
    rmSync(join(archive, '20261120-unmarked'), { recursive: true });
    expect(await folder.run(erase)).toMatchObject({ exitCode: 0, json: { erased: [], left: [] } });
  });

  it('lets no replay archive what a server still holds that was away', async () => {
    const { folder, listRemote } = await prepareByFile({});
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
    await folder.configure({ file: sftpSettings(server(), await findFreePort()) });
    expect(await folder.run(erase)).toMatchObject({ exitCode: 1, json: { left: [{ day, place: 'sftp' }] } });
    expect(listRemote()).toHaveLength(2);
    await folder.configure({ file: sftpSettings(server(), server().port) });
    expectReport(await folder.run(['replay', day, '--reason', 'x', '--json']), {
      exitCode: 0,
      state: 'succeeded',
    });
    expect(findGuest(folder)).toEqual([]);
    expect(await folder.run(erase)).toMatchObject({ exitCode: 0, json: { left: [] } });
  });
});
