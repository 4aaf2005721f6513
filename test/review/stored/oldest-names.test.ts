import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import { judgeAge } from '../../../src/checks/doctor/names.js';
import { findOldestNames } from '../../../src/review/stored/retention.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createDirectorySpool } from '../../../src/storage/spool.js';
import {
  chunkOf,
  collectedRun,
  fileLineOf,
  newRun,
  rightOf,
  startCollect,
  toLines,
} from '../../contracts/ledger/days.js';
import { planFileRun } from '../../contracts/ledger/file-days.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const at = (day: string) => Date.parse(`${day}T02:00:00Z`);
const moment = { now: at('2026-11-22'), timezone: 'Europe/Madrid' };

/** Two days by body, and one by file that awaits its result, with a ledger, an archive and a spool. */
async function prepare() {
  const root = await mkdtemp(join(tmpdir(), 'hotel-review-names-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const ledger = await openTemporaryLedger();
  const parts = {
    ledger,
    archive: createDirectoryArchive({ root: join(root, 'archive'), account: 'an-account' }),
    spool: createDirectorySpool({ root: join(root, 'spool') }),
  };
  for (const day of ['2026-09-01', '2026-11-10']) {
    const run = await collectedRun(ledger, `of-${day}`, { day, bookings: ['a'], startedAt: 0 });
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: at(day) + 86_400_000 });
  }
  const run = await ledger.runs.create(
    newRun('by-file', { day: '2026-10-01', delivery: 'file', startedAt: at('2026-10-02') }),
  );
  const collect = await startCollect(ledger, run);
  const lines = toLines(['F-1', 'F-2'].map(fileLineOf));
  await collect.store(chunkOf({ batches: [{ stream: 'file', number: 0, referenceHashes: [1, 2], lines }] }));
  await collect.finish({ steps: planFileRun({ file: 2 }), at: at('2026-10-02') });
  const keep = (name: string) => parts.archive.store('2026-10-01', 'by-file', name, bytes());
  return { ...parts, parts, keep, find: async () => findOldestNames(parts, moment) };
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('Ana Gil');
}

describe('the oldest guest names', () => {
  it('are looked for in the ledger’s lines, whatever the ledger says about the run', async () => {
    const { ledger, find } = await prepare();
    expect(await find()).toEqual([
      { place: 'ledger', runId: 'of-2026-09-01', since: '2026-09-02', ageDays: 81 },
    ]);
    // Claims to have blanked them, but has not.
    await ledger.guests.blankNames('2026-10-01', (lines) => lines);
    expect(await find()).toMatchObject([{ runId: 'of-2026-09-01' }]);
  });

  it('are found in archive and spool, except in a manifest', async () => {
    const { ledger, spool, keep, find } = await prepare();
    await ledger.guests.blankNames('2026-12-01', blankNames);
    await keep('manifest.json');
    expect(await find()).toEqual([]);
    await keep('earlier-0123456789ab-01102026.csv');
    await spool.write('by-file.csv', bytes());
    expect(await find()).toEqual([
      { place: 'archive', runId: 'by-file', since: '2026-10-02', ageDays: 51 },
      { place: 'spool', runId: 'by-file', since: '2026-10-02', ageDays: 51 },
    ]);
  });
});

it('doctor tells their age in each place, and warns once they should be gone', () => {
  const judge = (ageDays: number) =>
    judgeAge({ place: 'archive', runId: 'r1', since: '2026-10-02', ageDays }, 30);
  expect(judge(1)).toMatchObject({ part: 'archive', verdict: 'ok' });
  expect(judge(32)).toMatchObject({ verdict: 'ok' });
  expect(judge(33)).toMatchObject({ verdict: 'warning' });
});
