import { chmodSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { S3Access } from '../../src/s3/aws-bucket.js';
import { archiveOf } from '../support/archived-run.js';
import { day, type Settings } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remoteFolder, remotePath, resultPath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
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

/** A day by file in which BR-2 is affected. */
async function runDay(settings: Settings = {}, account?: S3Access) {
  const prepared = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { hashKey: 'a key of the tests', ...settings },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  if (account) writeVariables(prepared.folder.path, account);
  const result = await prepared.folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
  return { ...prepared, result, archive: archiveOf(result) };
}

describe('guest export', () => {
  it('hands out everything that is kept about a guest, and nothing about others', async () => {
    const { folder, archive } = await runDay();
    await writeFile(join(archive.path, 'foreign-1.csv'), `Remark,Who\n"about ""BR-2""",x\nBR-2,${canary}\n`);
    await folder.run(['show', 'BR-2']);
    const exported = await folder.run(['guest', 'export', 'BR-2', '--json']);
    expect(exported.exitCode).toBe(0);
    expect(exported.json).toMatchObject({
      bookings: [
        {
          day,
          state: 'delivered',
          verdict: 'incorrect',
          booking: { BookingClientName: canary, CheckInDate: '2026-12-01' },
        },
      ],
      files: expect.arrayContaining([
        expect.objectContaining({
          place: 'archive',
          name: '20112026.csv',
          records: [{ line: 3, cells: expect.objectContaining({ BookingClientName: canary }) }],
        }),
        expect.objectContaining({ name: '20112026_Result.csv' }),
        expect.objectContaining({
          name: 'foreign-1.csv',
          records: [{ line: 3, cells: { Remark: 'BR-2', Who: canary } }],
        }),
      ]),
    });
    expect(exported.json).toMatchObject({ auditTrail: [{ action: 'show', subject: 'BR-2' }] });
    expect(exported.stdout).not.toMatch(/BR-[13456]/);
    for (const { BookingClientName } of bookings.filter((booking) => booking.BookingReferenceId !== 'BR-2'))
      expect(exported.stdout).not.toContain(BookingClientName);
  });

  it('says that nothing is kept, with exit 1, and creates no ledger', async () => {
    const { folder } = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    const before = await readdir(folder.path);
    const none = await folder.run(['guest', 'export', 'BR-2', '--json']);
    expect(none).toMatchObject({
      exitCode: 1,
      json: { reference: 'BR-2', bookings: [], files: [], auditTrail: [] },
    });
    expect(await readdir(folder.path)).toEqual(before);
    expectError(await folder.run(['guest', 'export', ' ', '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /expected a booking reference/,
    });
  });
});

interface Receipt {
  readonly erased: readonly Readonly<Record<'place' | 'name', string>>[];
  readonly left: readonly object[];
  readonly remembered: readonly object[];
}

/** The files under a folder whose bytes contain the text. */
async function findText(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // SQLite removes its own files when its last connection is closed.
    const bytes = entry.isFile() ? await readFile(path).catch(() => Buffer.alloc(0)) : undefined;
    // What is in the log beside the ledger belongs to the ledger, and moves there at any time.
    if (bytes?.includes(text)) found.push(path.replace(/-wal$/, ''));
  }
  return [...new Set(found)].sort();
}

describe('guest erase', () => {
  it('removes the files of the run and blanks its lines, with a receipt, and verify says so', async () => {
    const { folder, archive, server: sftp } = await runDay();
    const malformed = `BR-2,"x" ${canary}\r\nBR-3,y\r\n`;
    await writeFile(join(archive.path, 'foreign-1.csv'), `Ref,Note\r\nBR-2,for ${canary}!\r\n${malformed}`);
    const before = await findText(folder.path, canary);
    expect(before.length).toBeGreaterThan(2);
    const manifest = archive.read('manifest.json').toString();
    const reason = ['--reason', 'ticket 7', '--json'];
    const dry = await folder.run(['guest', 'erase', 'BR-2', ...reason, '--dry-run']);
    expect(await findText(folder.path, canary)).toEqual(before);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);

    const erased = await folder.run(['guest', 'erase', 'BR-2', ...reason]);
    expect(erased).toMatchObject({ exitCode: 0, json: { reason: 'ticket 7', all: false, left: [] } });
    const places = (erased.json as Receipt).erased.map(({ place, name }) => `${place} ${name}`);
    expect(places.sort()).toEqual([
      'archive 20112026.csv',
      'archive 20112026_Result.csv',
      'archive foreign-1.csv',
      'ledger file batch 0',
      `sftp ${remotePath}`,
      `sftp ${resultPath}`,
    ]);
    expect((erased.json as Receipt).erased).toEqual((dry.json as Receipt).erased);
    expect(erased.stdout).not.toContain(canary);
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    expect(await readdir(sftp.disk(remoteFolder))).toEqual([]);
    expect(archive.read('manifest.json').toString()).toBe(manifest);
    const verified = await folder.run(['verify', day, '--json']);
    expect(verified).toMatchObject({
      exitCode: 0,
      json: {
        runs: [
          {
            items: expect.arrayContaining(
              ['20112026.csv', '20112026_Result.csv'].map((item) => ({
                item,
                note: expect.stringMatching(/^removed on \d{4}-\d\d-\d\d because a guest was erased$/),
              })),
            ),
          },
        ],
      },
    });
    const shown = await folder.run(['show', 'BR-2', '--json']);
    expect(shown.json).toMatchObject({ bookings: [{ verdict: 'incorrect', state: 'delivered' }] });
    expect((await folder.run(['affected', day, '--json'])).json).toMatchObject({
      affected: [{ BookingReferenceId: 'BR-2' }],
    });

    const again = await folder.run(['guest', 'erase', 'BR-2', ...reason]);
    expect(again).toMatchObject({ exitCode: 0, json: { erased: [] } });
    await writeFile(join(archive.path, '20112026.csv'), 'what an interrupted erasure left');
    expect(await folder.run(['verify', day])).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('20112026.csv: is still there, although a guest was erased'),
    });
  });

  it('removes reference and stay too, with --all', async () => {
    const { folder } = await runDay();
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--all', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { all: true, left: [] } });
    for (const text of [canary, 'BR-2'])
      expect(await findText(folder.path, text)).toEqual([folder.bookingsFile]);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
    expect((await folder.run(['show', 'BR-2'])).exitCode).toBe(1);
    expect((await folder.run(['status', day, '--json'])).json).toMatchObject({
      runs: [{ state: 'succeeded', counts: { affected: 1 } }],
    });
  });

  it('has replays send the booking without its name, and keep none', async () => {
    const { folder, standIn, server: sftp } = await runDay();
    await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x']);
    const replayed = await folder.run(['replay', day, '--json']);
    expectReport(replayed, {
      exitCode: 0,
      state: 'succeeded',
      counts: { accepted: 6, delivered: 6, posted: 1 },
    });
    const { BookingClientName: _, ...nameless } = bookings[1] ?? {};
    expect(standIn.accepted()).toEqual([nameless]);
    expect(await readFile(sftp.disk(remotePath), 'utf8')).not.toMatch(/BR-2|Quetzal/);
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, json: { counts: { accepted: 0, duplicates: 6 } } });
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    const shown = await folder.run(['show', 'BR-2', '--json']);
    expect(JSON.stringify(shown.json)).not.toContain('BookingClientName');
  });

  it('has bookings by body replayed without the name, in a large day too', async () => {
    const many = makeBookings(45_000, { first: 10 });
    const { folder, standIn } = await prepareFileDay(server(), {
      bookings: toCsv([...bookings, ...many]),
      settings: { hashKey: 'a key of the tests', body: { batchSize: 1_000 } },
      onPost: () => success,
    });
    const byBody = ['--delivery', 'body', '--json'];
    expectReport(await folder.run(['run', '--day', day, ...byBody]), { exitCode: 0, state: 'succeeded' });
    expect(JSON.stringify(standIn.accepted())).toContain(canary);
    const sent = standIn.accepted().length;
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({
      exitCode: 0,
      json: { left: [], erased: [{ place: 'ledger', name: 'body batch 0' }] },
    });
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
    expectReport(await folder.run(['replay', day, ...byBody]), { exitCode: 0, state: 'succeeded' });
    const replayed = standIn.accepted().slice(sent);
    expect(replayed).toHaveLength(45_006);
    expect(replayed.filter(({ BookingClientName }) => BookingClientName === undefined)).toMatchObject([
      { BookingReferenceId: 'BR-2' },
    ]);
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
  });

  it.each<[what: string, row: string]>([
    ['the row lacks its first cell', `"BR-2",${canary},7,Bedlink,BL-1,2026-12-01,`],
    ['the reference is wrapped', `"=""BR-2""",${canary},7,Bedlink,BL-1,2026-12-01,`],
    ['the reference is in another column', `${canary},7,Bedlink,BL-1,2026-12-01,,\u200b BR-2 `],
    ['the row has lost the reference', `Bedlink,"${canary.toUpperCase()}",7,x,BL-1,2026-12-01,`],
  ])('removes the name from a record whose cells are shifted, now and in a replay: %s', async (_, row) => {
    const { folder } = await prepareFileDay(server(), {
      bookings: `${toCsv(bookings)}${row}\n`,
      settings: { hashKey: 'a key of the tests', maxRejectedShare: 0.9, delivery: 'body' },
      onPost: () => success,
    });
    await folder.runDay();
    const findName = async () => [
      ...(await findText(folder.path, canary)),
      ...(await findText(folder.path, canary.toUpperCase())),
    ];
    expect(await findName()).toContain(folder.ledgerFile);
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(new Set(await findName())).toEqual(new Set([folder.bookingsFile]));
    if (!row.includes('BR-2')) return;
    await folder.run(['replay', day, '--reason', 'x']);
    expect((await folder.run(['rejected', day, '--json'])).json).toMatchObject({
      rejected: [{ place: 8, field: 'ServiceId', reference: null, value: null }],
    });
    expect(await findName()).toEqual([folder.bookingsFile]);
  });

  it('removes the value of a rejected record, and keeps no reason with a name', async () => {
    const rest = '7,Bedlink,BL-1,2026-12-01,2026-12-02';
    const { folder } = await prepareFileDay(server(), {
      bookings: `${toCsv(bookings)}${canary},X-1,${rest}\n`,
      settings: { hashKey: 'a key of the tests', maxRejectedShare: 0.9 },
      onPost: () => success,
    });
    await folder.run(['run', '--day', day, '--delivery', 'body']);
    const named = await folder.run(['show', '--name', canary, '--json']);
    expect(named.json).toMatchObject({ bookings: [{ reference: 'BR-2' }], unreferenced: 1 });
    const reason = `${canary} wrote on Monday`;
    const rejected = await folder.run(['guest', 'erase', 'X-1', '--reason', reason, '--json']);
    expect(rejected).toMatchObject({
      exitCode: 0,
      json: {
        erased: [{ place: 'ledger', name: 'reference and value of rejected record 8' }],
        reason: '*** *** wrote on Monday',
      },
    });
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', reason, '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
  });

  it('needs hashKey, and the same one in a later run', async () => {
    const { folder } = await runDay();
    await folder.configure({ hashKey: undefined });
    expectError(await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /set hashKey/,
    });
    await folder.configure({ hashKey: 'a key of the tests' });
    expect((await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x'])).exitCode).toBe(0);
    await folder.configure({ hashKey: 'another key of the tests' });
    expectError(await folder.run(['replay', day, '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /set hashKey to that key/,
    });
  });

  it.each([
    ['the name', []],
    ['everything', ['--all']],
  ])('erases %s unless an SFTP server refuses it, and says with exit 1 what is left', async (_, what) => {
    const { folder, server: sftp } = await runDay();
    const erase = () => folder.run(['guest', 'erase', 'BR-2', ...what, '--reason', 'x', '--json']);
    chmodSync(sftp.disk(remoteFolder), 0o555);
    for (const _time of ['first', 'again']) {
      expect(await erase()).toMatchObject({
        exitCode: 1,
        json: {
          left: [remotePath, resultPath].map((path) => ({
            ...{ day, place: 'sftp' },
            why: expect.stringContaining(`${path}: the server denies it`),
          })),
        },
      });
      expect(await findText(folder.path, canary)).toEqual([folder.bookingsFile]);
      expect(await readFile(sftp.disk(remotePath), 'utf8')).toContain(canary);
      expect(await readdir(sftp.disk(remoteFolder))).toHaveLength(2);
    }
    chmodSync(sftp.disk(remoteFolder), 0o755);
    const last = await erase();
    expect(await readdir(sftp.disk(remoteFolder))).toEqual([]);
    expect(last).toMatchObject({ exitCode: 0, json: { left: [] } });
  });

  it('erases from an archive in a bucket, and verify says so', async () => {
    const { folder, result } = await runDay(
      {
        archive: `s3://${bucketName}/erased`,
      },
      buckets().access(),
    );
    const kept = `erased/${day}/${result.report.runId}/`;
    expect((await buckets().read(`${kept}20112026.csv`)).toString()).toContain(canary);
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    const keys = await buckets().keys();
    expect(keys.filter((key) => key.startsWith(kept) && !key.includes('/.'))).toEqual([
      `${kept}manifest.json`,
    ]);
    for (const key of keys) expect((await buckets().read(key)).toString()).not.toContain(canary);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });
});

describe('guest purge', () => {
  it('removes nothing that is not due', async () => {
    const { folder, archive } = await runDay();
    const names = archive.names();
    for (const options of [['--dry-run'], []]) {
      const purged = await folder.run(['guest', 'purge', ...options, '--json']);
      expect(purged).toMatchObject({
        exitCode: 0,
        json: { dryRun: options.length > 0, runs: [], records: [], left: [] },
      });
    }
    expect(archive.names()).toEqual(names);
  });
});
