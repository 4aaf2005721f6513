import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDirectoryArchive } from '../../../src/archive/directory.js';
import { createS3Archive } from '../../../src/archive/s3.js';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { applyRetention } from '../../../src/review/stored/retention.js';
import { blankNames } from '../../../src/review/stored/stored-line.js';
import { createAwsBucket } from '../../../src/s3/aws-bucket.js';
import { createDirectorySpool } from '../../../src/spool/spool.js';
import { bucketName, useS3Server } from '../../support/s3-server.js';
import { ok, prepareDelivery } from '../delivering.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const today = createBusinessDay('2026-11-20', 'Europe/Madrid');
const periods = { guestNameDays: 30, recordDays: 800 };

describe('cleaning up old days', () => {
  it.each([
    ['2026-11-20', '2024-09-11', '2026-10-21'],
    ['2028-03-01', '2025-12-22', '2028-01-31'],
    ['2027-03-29', '2025-01-18', '2027-02-27'],
  ])('counts days by the calendar: on %s', async (today, pruneBefore, blankBefore) => {
    const asked: unknown[] = [];
    const ledger = {
      listRunsWithNames: async (before: string) => {
        asked.push(['list', before]);
        return [];
      },
      prune: async (before: string) => asked.push(['prune', before]),
      blankGuestNames: async (before: string, blank: unknown) => asked.push(['blank', before, blank]),
    };
    await applyRetention(
      { ledger, ...(await openTemporaryFolders()) },
      periods,
      createBusinessDay(today, 'Europe/Madrid'),
    );
    expect(asked).toEqual([
      ['list', blankBefore],
      ['blank', blankBefore, blankNames],
      ['prune', pruneBefore],
    ]);
  });

  it('removes guest names from the ledger when their time is up, and not a day before', async () => {
    const ledger = await openTemporaryLedger();
    const folders = await openTemporaryFolders();
    await prepareDelivery({ ledger, day: '2026-10-21', bookings: 3, batchSize: 2, answer: () => ok });
    const { right } = await prepareDelivery({
      ledger,
      day: '2026-10-20',
      bookings: 3,
      batchSize: 2,
      answer: () => ok,
    });
    await applyRetention({ ledger, ...folders }, periods, today);
    const kept = await ledger.readBatch('run-of-2026-10-21', 'body', 0);
    const blanked = await ledger.readBatch(right.runId, 'body', 0);
    expect(kept.toString()).toContain('Ana Lovelace');
    expect(blanked.toString()).toBe(
      '{"ServiceId":700000,"BookingReferenceId":"BR-0"}\n{"ServiceId":700001,"BookingReferenceId":"BR-1"}\n',
    );
    await applyRetention({ ledger, ...folders }, periods, today);
    expect((await ledger.readBatch(right.runId, 'body', 0)).equals(blanked)).toBe(true);
  });

  it('removes the archived files with the names, keeps the manifest, and empties the spool', async () => {
    const ledger = await openTemporaryLedger();
    const { archive, spool } = await openTemporaryFolders();
    for (const day of ['2026-10-20', '2026-10-21']) {
      const { right } = await prepareDelivery({ ledger, day, bookings: 1, batchSize: 1, answer: () => ok });
      await ledger.settle(right, { state: 'succeeded', at: 2_000 });
      const { runId } = right;
      for (const name of ['20102026.csv', '20102026_Result.csv', 'manifest.json'])
        await archive.keep(day, runId, name, bytesOf('Ana Lovelace'));
      await spool.write(`${runId}.csv`, bytesOf('Ana Lovelace'));
    }
    await applyRetention({ ledger, archive, spool }, periods, today);
    expect(await archive.list('2026-10-20', 'run-of-2026-10-20')).toEqual(['manifest.json']);
    expect(await archive.list('2026-10-21', 'run-of-2026-10-21')).toHaveLength(3);
    expect(await spool.list()).toEqual(['run-of-2026-10-21.csv']);
  });
});

describe('cleaning up old days of an archive in a bucket', () => {
  const server = useS3Server();

  it('removes the objects with the names, and keeps the manifest', async () => {
    const ledger = await openTemporaryLedger();
    const { spool, root } = await openTemporaryFolders();
    const archive = createS3Archive({
      root: { bucket: bucketName, key: 'evidence' },
      open: async () => createAwsBucket(bucketName, server().access()),
      temporaryFolder: root,
    });
    for (const day of ['2026-10-20', '2026-10-21']) {
      const { right } = await prepareDelivery({ ledger, day, bookings: 1, batchSize: 1, answer: () => ok });
      await ledger.settle(right, { state: 'succeeded', at: 2_000 });
      for (const name of ['sent.csv', 'result.csv', 'manifest.json'])
        await archive.keep(day, right.runId, name, bytesOf('Ana Lovelace'));
    }
    await applyRetention({ ledger, archive, spool }, periods, today);
    expect(await server().keys()).toEqual([
      'evidence/2026-10-20/run-of-2026-10-20/manifest.json',
      'evidence/2026-10-21/run-of-2026-10-21/manifest.json',
      'evidence/2026-10-21/run-of-2026-10-21/result.csv',
      'evidence/2026-10-21/run-of-2026-10-21/sent.csv',
    ]);
  });
});

async function openTemporaryFolders() {
  const root = await mkdtemp(join(tmpdir(), 'hotel-review-kept-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return {
    root,
    archive: createDirectoryArchive({ root: join(root, 'archive') }),
    spool: createDirectorySpool({ root: join(root, 'spool') }),
  };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
