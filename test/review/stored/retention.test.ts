import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeAge } from '../../../src/checks/doctor/names.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import {
  applyRetention,
  countedFrom,
  findDueDays,
  findOldestNames,
  findRetentionInstant,
  listDue,
  removeDue,
  removeUnknownDue,
} from '../../../src/review/stored/retention.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createKeyFolder } from '../../../src/storage/day-keys.js';
import { createDirectorySpool } from '../../../src/storage/spool.js';
import { collectedFileRun, performUpTo } from '../../contracts/ledger/file-days.js';
import { prepareDelivery } from '../delivering.js';
import { ok } from '../scripted-service.js';
import { someRun } from '../some-run.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const timezone = 'Europe/Madrid';
/** The night in which the names of 2026-10-20 are due. */
const now = Date.parse('2026-11-20T01:30:00Z');
/** When the old days were collected. */
const startsAt = '2026-10-20T22:30:00Z';
let runs = 0;
const periods = { guestNameDays: 30, recordDays: 800 };

/** What one night finds: a ledger, and folders for files. */
async function openStores() {
  const root = await mkdtemp(join(tmpdir(), 'hotel-review-kept-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const ledger = await openTemporaryLedger();
  return {
    root,
    ledger,
    archive: createDirectoryArchive({ root: join(root, 'archive'), account: 'an-account' }),
    spool: createDirectorySpool({ root: join(root, 'spool') }),
    /** A run of that day. */
    collect: (day: string, startedAt = startsAt) =>
      prepareDelivery({ ledger, day, startsAt: startedAt, bookings: 1, batchSize: 1, answer: () => ok }),
    readLines: async (day: string) =>
      (await ledger.bookings.readBatch(`run-of-${day}`, 'posted', 0)).toString(),
  };
}

it.each([
  ['2026-11-20', '2024-09-11', '2026-10-21'],
  ['2028-03-01', '2025-12-22', '2028-01-31'],
  ['2027-03-29', '2025-01-18', '2027-02-27'],
])('days are counted by the calendar: on %s', (today, recordsBefore, namesBefore) => {
  const moment = { now: Date.parse(`${today}T01:30:00Z`), timezone };
  expect(findDueDays(periods, moment)).toEqual({ namesBefore, recordsBefore });
});

describe('cleaning up old days', () => {
  it('removes names in ledger, archive and spool when their time is up, as it lists them, and not a day before', async () => {
    const { ledger, archive, spool, collect, readLines } = await openStores();
    for (const day of ['2026-10-20', '2026-10-21']) {
      const { right } = await collect(day);
      await ledger.runs.settle(right, { state: 'succeeded', at: 2_000 });
      for (const name of ['sent.csv', 'manifest.json'])
        await archive.store(day, right.runId, name, bytesOf('Ana Lovelace'));
      await spool.write(`${right.runId}.csv`, bytesOf('Ana Lovelace'));
    }
    await startRun(ledger, now - dayMs);
    const parts = { ledger, archive, spool };
    const moment = { now, timezone };
    const due = findDueDays(periods, moment);
    const runId = 'run-of-2026-10-20';
    const oldest = { runId, since: '2026-10-20', ageDays: 31 };
    expect(await findOldestNames(parts, moment)).toEqual([
      { place: 'ledger', ...oldest },
      { place: 'spool', ...oldest },
    ]);
    expect(await listDue(parts, due)).toEqual({
      names: [{ runId, day: '2026-10-20', archived: ['sent.csv'], spooled: [`${runId}.csv`] }],
      records: [],
    });
    await applyRetention(parts, periods, moment);
    expect(await listDue(parts, due)).toEqual({ names: [], records: [] });
    expect(await findOldestNames(parts, moment)).toMatchObject([
      { place: 'ledger', runId: 'run-of-2026-10-21' },
      { place: 'spool', runId: 'run-of-2026-10-21' },
    ]);
    expect(await readLines('2026-10-20')).toBe('700000,BR-0,,,,,\n');
    expect(await readLines('2026-10-21')).toContain('Ana Lovelace');
    expect(await archive.list('2026-10-20', runId)).toEqual(['manifest.json']);
    expect(await archive.list('2026-10-21', 'run-of-2026-10-21')).toHaveLength(2);
    expect(await spool.list()).toEqual(['run-of-2026-10-21.csv']);
    const records = { ...due, recordsBefore: '2026-10-21' };
    expect(await listDue(parts, records)).toMatchObject({ records: [{ id: runId }] });
    await removeDue(parts, records);
    expect(await listDue(parts, records)).toEqual({ names: [], records: [] });
  });

  it('removes what a run that still awaits its result has in archive and spool', async () => {
    const { ledger, archive, spool } = await openStores();
    const runId = 'awaiting';
    const run = await collectedFileRun(ledger, runId, { day: '2026-10-20' });
    await performUpTo(ledger, run, 'trigger');
    const names = ['earlier-0123456789ab-20102026.csv', 'foreign-0123456789ab-20102026_Result.csv'];
    const keep = async () => {
      for (const name of names) await archive.store('2026-10-20', runId, name, bytesOf('Ana Lovelace'));
      for (const name of [`${runId}.csv`, `${runId}.earlier.csv`, `${runId}.result.csv.part`])
        await spool.write(name, bytesOf('Ana Lovelace'));
    };
    await keep();
    // Its names are due 30 days after it was collected.
    const later = now + 33 * dayMs;
    await startRun(ledger, later - dayMs);
    const working = await ledger.holds.day('2026-10-20');
    await applyRetention({ ledger, archive, spool }, periods, { now: later, timezone });
    expect(await archive.list('2026-10-20', runId)).toEqual(names);
    expect(await spool.list()).toHaveLength(3);
    const found = await findOldestNames({ ledger, archive, spool }, { now: later, timezone });
    expect(found.map(({ place }) => place)).toEqual(['ledger', 'archive', 'spool']);
    await working?.release();
    await applyRetention({ ledger, archive, spool }, periods, { now: later, timezone });
    const held = async () => [...(await archive.list('2026-10-20', runId)), ...(await spool.list())];
    expect(await held()).toEqual([]);
    // The run continues, and receives names with a late result.
    await ledger.runs.takeOver(runId);
    await keep();
    await applyRetention({ ledger, archive, spool }, periods, { now: later, timezone });
    expect(await held()).toEqual([]);
  });
});

it('tells of names that are there, whatever the ledger says about the run, but not of a manifest', async () => {
  const { ledger, archive, spool, collect } = await openStores();
  await collect('2026-10-20');
  await ledger.guests.blankNames('2026-11-20', (lines) => lines);
  await archive.store('2026-10-20', 'run-of-2026-10-20', 'manifest.json', bytesOf('{}'));
  const found = await findOldestNames({ ledger, archive, spool }, { now, timezone });
  expect(found).toMatchObject([{ place: 'ledger', runId: 'run-of-2026-10-20' }]);
});

it('doctor warns of names once they should be gone', () => {
  const judge = (ageDays: number) =>
    judgeAge({ place: 'archive', runId: 'r1', since: '2026-10-02', ageDays }, 30);
  expect(judge(32)).toMatchObject({ part: 'archive', verdict: 'ok' });
  expect(judge(33)).toMatchObject({ verdict: 'warning' });
});

it('removes what runs that the ledger does not know have left in the spool', async () => {
  const { ledger, archive, spool } = await openStores();
  const names = ['20261019-lostrun1.csv', '20261019-lostrun1.result.csv.part', '20261020-lostrun2.csv'];
  for (const name of [...names, 'notes.txt']) await spool.write(name, bytesOf('Ana Lovelace'));
  await removeUnknownDue({ ledger, archive, spool }, '2026-10-20');
  expect(await spool.list()).toEqual(['20261020-lostrun2.csv', 'notes.txt']);
});

it('destroys the key of a day without names only, and none of a day that the ledger does not know', async () => {
  const { collect, root, ...stores } = await openStores();
  await collect('2026-10-20');
  // Collected so late that its names are not due yet.
  await collect('2026-10-19', '2026-11-10T22:30:00Z');
  const keys = createKeyFolder(join(root, 'keys'));
  for (const day of ['2026-10-18', '2026-10-19', '2026-10-20', '2026-10-21']) keys.use(day);
  await removeDue({ ...stores, keys }, findDueDays(periods, { now, timezone }));
  expect(keys.listDays()).toEqual(['2026-10-18', '2026-10-19', '2026-10-21']);
});

it('the age of a run counts from its end, its collect, the begin of that or its start, or from its day if that is later', () => {
  const noon = (date: number) => Date.UTC(2026, 10, date, 12);
  const { collectStartedAt: _, collectedAt: __, finishedAt: ___, ...begun } = someRun({ day: '2026-10-20' });
  const started = { ...begun, startedAt: noon(1) };
  const collecting = { ...started, collectStartedAt: noon(2) };
  const collected = { ...collecting, collectedAt: noon(3) };
  const ended = { ...collected, finishedAt: noon(4) };
  const runs = [started, collecting, collected, ended, { ...ended, day: '2026-11-05' }];
  const expected = [1, 2, 3, 4, 5].map((date) => `2026-11-0${date}`);
  expect(runs.map((run) => countedFrom(run, timezone))).toEqual(expected);
});

it('the instant from which ages are counted is never later than now, nor than a day and a half after the last run, and is one of the two', () => {
  const instant = fc.integer({ min: 0, max: 1e13 });
  fc.assert(
    fc.property(instant, instant, (clock, last) => {
      expect(findRetentionInstant(clock, last)).toBe(Math.min(clock, last + 36 * hourMs));
      expect(findRetentionInstant(clock, undefined)).toBeUndefined();
    }),
  );
});

describe('a clock that jumps', () => {
  /** What the clock says in one night after the other; the ledger has a run of each. */
  async function reviewNightly(nights: readonly number[]) {
    const { ledger, archive, spool, collect, readLines } = await openStores();
    await collect('2026-11-01');
    const hasNames: boolean[] = [];
    for (const at of nights) {
      await startRun(ledger, at);
      await applyRetention({ ledger, archive, spool }, periods, { now: at + hourMs, timezone });
      hasNames.push((await readLines('2026-11-01')).includes('Ana Lovelace'));
    }
    return hasNames;
  }
  const night = (date: string) => Date.parse(`${date}T01:30:00Z`);

  it.each([
    ['ahead by a month for one night of a new ledger', 'kept', ['2026-12-10', '2026-11-11', '2026-11-12']],
    ['ahead again, before what it said the first time', 'kept', ['2026-12-10', '2026-11-20', '2026-12-21']],
    ['ahead by a month, with two runs in that night', 'kept', ['2026-11-09', '2026-12-10', '2026-12-10']],
    ['right, in the second night after such a month', 'blanked', ['2026-11-09', '2026-12-10', '2026-12-11']],
    ['right again, after it was behind', 'kept', ['2026-12-01', '2026-01-01', '2026-12-02']],
    ['right in a week without runs', 'blanked', ['2026-11-24', '2026-12-01', '2026-12-08']],
  ] as const)('%s: names are %s', async (_, outcome, nights) => {
    const hasNames = await reviewNightly(nights.map(night));
    const last = outcome === 'kept';
    expect(hasNames).toEqual([...nights.slice(1).map(() => true), last]);
  });
});

/** A run that says what the clock said. */
async function startRun(ledger: Ledger, startedAt: number): Promise<void> {
  runs += 1;
  // A day can have one active run.
  const day = new Date(Date.UTC(2030, 0, runs)).toISOString().slice(0, 10);
  await ledger.runs.create({ id: `run-${runs}`, day, delivery: 'body', trigger: 'schedule', startedAt });
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
