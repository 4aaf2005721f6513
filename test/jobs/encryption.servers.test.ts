import { cp, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { quotingRequests, startStandIn, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { bucketName, useS3Server, writeVariables } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const buckets = useS3Server();
const canary = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: canary } : booking,
);
const otherDay = '2026-11-19';

/** A day by file whose result marks BR-2 as affected. The test decides when it arrives. */
async function prepareDay(settings: Settings = {}) {
  let answer: (() => Promise<void>) | undefined;
  const prepared = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { keys: './keys', hashKey: 'a key of the tests', ...settings },
    async onCall(call) {
      answer = () => call.writeResult({ affected: ['BR-2'] });
      if (settings.file === undefined) await answer();
      return success;
    },
  });
  return { ...prepared, writeResult: async () => answer?.() };
}

/** The files under a folder whose bytes contain the text. */
async function findText(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // SQLite removes its own files when its last connection is closed.
    const bytes = entry.isFile() ? await readFile(path).catch(() => Buffer.alloc(0)) : undefined;
    if (bytes?.includes(text)) found.push(path);
  }
  return found;
}

const keyFile = (folder: DayFolder, ofDay = day) => join(folder.path, 'keys', 'days', `${ofDay}.key`);

async function verdictOf(folder: DayFolder): Promise<unknown> {
  const { json } = await folder.run(['show', 'BR-2', '--json']);
  return (json as { bookings: readonly { verdict: string }[] }).bookings[0]?.verdict;
}

afterEach(() => vi.useRealTimers());

describe('a day by file with keys', () => {
  it('leaves no name in any byte of ledger, spool and archive, at any time, and sends the file as it is', async () => {
    const { folder, writeResult, server: sftp } = await prepareDay({ file: { resultTimeoutMinutes: 0.005 } });
    expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
    const data = join(folder.path, 'data');
    expect((await readdir(join(data, 'spool'))).length).toBeGreaterThan(0);
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    expect(await readFile(sftp.disk(remotePath), 'utf8')).toContain(`BR-2,${canary},Hotelbeds`);

    await writeResult();
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect(archiveOf(result).names()).toEqual(['20112026.csv', '20112026_Result.csv', 'manifest.json']);
    expect(archiveOf(result).readManifest()).toMatchObject({ day });
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    for (const path of [keyFile(folder), join(folder.path, 'keys', 'master-1.key')])
      expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('keeps encrypted files in a bucket, and reads them from there', async () => {
    const { folder } = await prepareDay({ archive: `s3://${bucketName}/sealed` });
    writeVariables(folder.path, buckets().access());
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    const kept = ['20112026.csv', '20112026_Result.csv', 'manifest.json'];
    const keys = kept.map((name) => `sealed/${day}/${result.report.runId}/${name}`);
    const page = `sealed/reports/${day}/${result.report.runId}-succeeded.html`;
    // Beside the marks of ledger and account.
    const isMark = (key: string) => /\/(?:\.account|ledger-of)-/.test(key);
    expect((await buckets().keys()).filter((key) => !isMark(key))).toEqual([...keys, page]);
    for (const key of keys) expect((await buckets().read(key)).includes(canary)).toBe(false);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect((await folder.run(['guest', 'export', 'BR-2', '--json'])).json).toMatchObject({
      files: [{ name: '20112026.csv' }, { name: '20112026_Result.csv' }],
    });
  });

  it('is verified, shown, exported and erased like any other', async () => {
    const { folder } = await prepareDay();
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect(await verdictOf(folder)).toBe('incorrect');
    expect((await folder.run(['affected', day, '--json'])).json).toMatchObject({
      affected: [{ BookingReferenceId: 'BR-2' }],
    });
    const exported = await folder.run(['guest', 'export', 'BR-2', '--json']);
    expect(exported.json).toMatchObject({
      bookings: [{ booking: { BookingClientName: canary } }],
      files: [{ name: '20112026.csv' }, { name: '20112026_Result.csv' }],
    });

    const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect((await folder.run(['show', '--name', canary, '--json'])).json).toMatchObject({ bookings: [] });
    const replayed = await folder.run(['replay', day, '--json']);
    expectReport(replayed, { exitCode: 0, state: 'succeeded', counts: { posted: 1 } });
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    expect(archiveOf(result).names()).toEqual(['manifest.json']);
  });

  it('loses its key with its names: what a backup holds of them is unreadable', async () => {
    const { folder } = await prepareDay();
    // As a process: in this one, a garbage collection would let SQLite remove its log while the folder is copied.
    expectReport(await folder.runDay({ asProcess: true }), { exitCode: 0, state: 'succeeded' });
    const backup = join(folder.path, 'backup');
    await cp(join(folder.path, 'data'), backup, { recursive: true });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
    await expect(stat(keyFile(folder))).rejects.toThrow('ENOENT');
    expect(await verdictOf(folder)).toBe('incorrect');
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect((await folder.run(['status', day, '--json'])).exitCode).toBe(0);

    await folder.configure({ ledger: 'sqlite:./backup/ledger.db', archive: './backup/archive' });
    expectError(await folder.run(['show', 'BR-2', '--json']), {
      exitCode: 1,
      class: 'internal',
      message: /of 2026-11-20 was destroyed after guestNameDays/,
    });
    // The restored ledger doesn't know that its names are gone.
    expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
  });
});

/** Days by body, of which one is refused with a text that quotes it. */
async function prepareBodyDays(settings: Settings = { keys: './keys' }) {
  const standIn = await startStandIn(
    quotingRequests(async (request) => {
      const body = `${await request.readBody()}`;
      const refusal = { Status: false, Message: `no: ${body}`, StatusCode: 2009 };
      return body.includes('"BR-3"') ? { kind: 'json', status: 400, body: refusal } : success;
    }),
  );
  const broken = `${canary},BR-9,x,Hotelbeds,1,2026-12-01,2026-12-02\nBR-9,${canary},Hotelbeds,1,2026-12-01,2026-12-02,\n`;
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    bookings: toCsv(bookings) + broken,
    settings: { maxRejectedShare: 0.5, ...settings },
  });
  await folder.writeBookings(toCsv(bookings).replaceAll('BR-', 'OTHER-'), otherDay);
  return folder;
}

describe('days by body with keys', () => {
  it("leave no name in the ledger: not in bookings, the service's words or rejected values", async () => {
    const folder = await prepareBodyDays();
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { refused: 1, rejected: 2 } });
    expect(await findText(join(folder.path, 'data'), canary)).toEqual([]);
    const rejected = await folder.run(['rejected', day, '--json']);
    expect(rejected.json).toMatchObject({ rejected: [{ value: canary }, { reference: canary }] });
    const { stdout } = await folder.run(['show', 'BR-3', '--answers']);
    expect(stdout).toContain('no: {');
  });

  it('lose, with a key, what it encrypts, and nothing else', async () => {
    const folder = await prepareBodyDays();
    await folder.runDay();
    await folder.run(['run', '--day', otherDay]);
    await rename(keyFile(folder), join(folder.path, 'lost.key'));
    expectError(await folder.run(['show', 'BR-2', '--json']), {
      exitCode: 1,
      class: 'internal',
      message: /key [0-9a-f]{16} of 2026-11-20 is not in .*keys: restore .*2026-11-20\.key/,
    });
    expect(await folder.run(['show', 'OTHER-2', '--json'])).toMatchObject({ exitCode: 0 });
    expect((await folder.run(['status', '--json'])).exitCode).toBe(0);
    expect((await folder.run(['doctor', '--json'])).json).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          part: 'keys',
          verdict: 'warning',
          message: expect.stringMatching(/^key [0-9a-f]{16} of 2026-11-20 is not in .*: restore /),
        }),
      ]),
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    expectError(await folder.run(['guest', 'purge', '--json']), {
      exitCode: 1,
      class: 'internal',
      message: /2026-11-20/,
    });
    await expect(stat(keyFile(folder, otherDay))).rejects.toThrow('ENOENT');
    await rename(join(folder.path, 'lost.key'), keyFile(folder));
    expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(await folder.run(['show', 'BR-2', '--json'])).toMatchObject({ exitCode: 0 });
  });

  it('are readable after a rotation, which changes no stored byte', async () => {
    const folder = await prepareBodyDays();
    await folder.runDay();
    const before = await readFile(folder.ledgerFile);
    const rotated = await folder.run(['keys', 'rotate', '--json']);
    expect(rotated).toMatchObject({ exitCode: 0, json: { days: [day], unreadable: [] } });
    expect((await readdir(join(folder.path, 'keys'))).sort()).toEqual(['days', 'master-2.key']);
    expect(before.length).toBeGreaterThan(0);
    expect(await folder.run(['show', 'BR-2', '--json'])).toMatchObject({ exitCode: 0 });
    expect((await folder.run(['audit', '--json'])).json).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ action: 'keys-rotate' })]),
    });
    await folder.configure({ keys: undefined });
    expectError(await folder.run(['keys', 'rotate', '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /nothing is encrypted: set keys/,
    });
  });

  it('can be given up when their key is lost for good', async () => {
    const folder = await prepareBodyDays();
    await folder.runDay();
    expectError(await folder.run(['keys', 'forget', day, '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /the key of 2026-11-20 is in /,
    });
    await rename(keyFile(folder), join(folder.path, 'lost.key'));
    expect(await folder.run(['keys', 'forget', day])).toMatchObject({ exitCode: 0 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
    // Its names are due, so a key that is found after all is destroyed.
    await rename(join(folder.path, 'lost.key'), keyFile(folder));
    await folder.run(['guest', 'purge']);
    expectError(await folder.run(['show', 'BR-2', '--json']), {
      exitCode: 1,
      class: 'internal',
      message: /keys forget/,
    });
  });

  it('name what is missing when the master key is gone, with exit 2', async () => {
    const folder = await prepareBodyDays();
    await folder.runDay();
    await rename(join(folder.path, 'keys', 'master-1.key'), join(folder.path, 'master.key'));
    const missing = { exitCode: 2, class: 'configuration', message: /no master key in .*keys: restore/ };
    expectError(await folder.run(['show', 'BR-2', '--json']), missing);
    expectError(await folder.run(['run', '--day', otherDay, '--json']), missing);
    await rename(join(folder.path, 'master.key'), join(folder.path, 'keys', 'master-1.key'));
    expect(await folder.run(['show', 'BR-2', '--json'])).toMatchObject({ exitCode: 0 });
  });

  it('are read beside days that were stored before', async () => {
    const folder = await prepareBodyDays({});
    await folder.run(['run', '--day', otherDay]);
    await folder.configure({ keys: './keys' });
    await folder.runDay();
    for (const reference of ['OTHER-2', 'BR-2'])
      expect(await folder.run(['show', reference, '--json'])).toMatchObject({ exitCode: 0 });
    await folder.configure({});
    expect(await folder.run(['show', 'OTHER-2', '--json'])).toMatchObject({ exitCode: 0 });
    expectError(await folder.run(['show', 'BR-2', '--json']), {
      exitCode: 2,
      class: 'configuration',
      message: /encrypted under key [0-9a-f]{16} of 2026-11-20, but the setting keys is missing/,
    });
  });
});
