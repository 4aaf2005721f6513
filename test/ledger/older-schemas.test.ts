import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnusableError } from '../../src/ledger/errors.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { readStaysAhead } from '../../src/review/stays/stays-ahead.js';
import { at, collectedRun } from '../contracts/ledger/days.js';
import { type MadeStay, storeRun } from '../contracts/ledger/stays.js';
import { hotelOf, rowOf, syncRows } from '../contracts/mapping-copy/pages.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';
import { type OpenedPostgresLedger, openNewPostgresLedger } from './opened-postgres.js';

const newTables = [
  'messages',
  'notices',
  'noted_instants',
  'suspects',
  'mapping_moves',
  'mappings',
  'master_hotels',
  'mapping_syncs',
  'export_requests',
  'fetched_exports',
  'verdicts',
  'skipped_mappings',
  'audit_trail',
  'erased_guests',
  'erased_contents',
  'hotel_loads',
  'hotel_contents',
  'stay_pages',
  'case_bookings',
  'cases',
  'followed_runs',
  'kept_columns',
  'watched_moves',
  'endangered_mappings',
  'canaries',
  'mail_bookings',
  'mail_pairs',
  'verdict_mails',
];
const newRunColumns = [
  ...[
    'suspects',
    'filled_in',
    'filtered',
    'posted',
    'providers',
    'expected',
    'accepts_repeated',
    'cancel_reason',
    'volume',
    'volume_dropped',
    'volume_acceptance',
    'lines_blanked',
    'guest_names',
    'day_accepted',
    'stays_indexed',
  ],
];
const newRejectColumns = ['field', 'value'];
const oldTable = (bytes: string) => `affected (run INTEGER, batch INTEGER, places ${bytes})`;
/** An affected booking, as these versions recorded it, and a posted one. */
const file = JSON.stringify({ rows: 2, verdicts: { affected: 1, unanswered: 1, unclear: 0, malformed: 0 } });
const judged = `UPDATE runs SET delivery = 'file', file = '${file}', affected = 1`;

const stay: MadeStay['booking'] = {
  ...{ serviceId: 7, bookingReferenceId: 'S-1', ...hotelOf('H'), checkInDate: '2026-12-01' },
};

async function storeStays(ledger: Ledger): Promise<void> {
  await storeRun(ledger, {
    ...{ id: 'r2', day: '2026-11-21', delivery: 'body', trigger: 'manual', topsUp: false, isCollected: true },
    stays: [{ form: 'body', booking: stay }],
  });
}

/** They are indexed once, at the first request. */
async function expectStays(ledger: Ledger): Promise<void> {
  const ask = async () => {
    const found = [];
    for await (const stays of readStaysAhead(ledger, [hotelOf('H')], { today: '2026-11-22' }))
      found.push(...stays);
    return found.map(({ reference, checkIn }) => ({ reference, checkIn }));
  };
  expect((await ledger.stays.listStayRuns()).map(({ isIndexed }) => isIndexed)).toEqual([false, false]);
  expect(await ask()).toEqual([{ reference: 'S-1', checkIn: '2026-12-01' }]);
  expect((await ledger.stays.listStayRuns()).map(({ isIndexed }) => isIndexed)).toEqual([true, true]);
  expect(await ask()).toHaveLength(1);
}

describe('an SQLite ledger from before the copy of the mappings existed', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('is migrated when it is opened, and keeps its data', async () => {
    const run = await collectedRun(opened.ledger, 'r1', { trigger: 'hook' });
    await storeStays(opened.ledger);
    await opened.ledger.close();
    const raw = opened.openRaw();
    for (const table of newTables) raw.exec(`DROP TABLE ${table}`);
    for (const column of newRunColumns) raw.exec(`ALTER TABLE runs DROP COLUMN ${column}`);
    for (const column of newRejectColumns) raw.exec(`ALTER TABLE rejects DROP COLUMN ${column}`);
    raw.exec(`CREATE TABLE ${oldTable('BLOB')}; INSERT INTO affected VALUES (1, 0, x'0100'); ${judged}`);
    raw.exec('PRAGMA user_version = 2');
    raw.close();
    const ledger = await opened.reopen();
    expect(await ledger.runs.get('r1')).toMatchObject({
      ...{ id: run.id, state: run.state, delivery: 'file', trigger: 'hook' },
      counts: { accepted: run.counts.accepted, posted: run.counts.accepted, affected: 1, unanswered: 1 },
    });
    expect(await ledger.bookings.nextSuspects('r1')).toBeUndefined();
    expect(await ledger.bookings.trace('BR-1')).toHaveLength(1);
    await expectStays(ledger);
    expect(await ledger.mappings.isEmpty()).toBe(true);
    await syncRows(ledger.mappings, [rowOf('1', 10)]);
    expect((await ledger.mappings.find(hotelOf('1')))?.mapping.serviceId).toBe(10);
    await ledger.exports.rememberRequest({ requestedAt: at, providers: [] });
    expect(await ledger.exports.latestRequest()).toEqual({ requestedAt: at, providers: [] });
  });
});

describe('a PostgreSQL ledger from before the copy of the mappings existed', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  beforeEach(async () => {
    opened = await openNewPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  it('is migrated by the first writer, and keeps its data; a reader says that this must happen first', async () => {
    const run = await collectedRun(opened.ledger, 'r1', { trigger: 'hook' });
    await storeStays(opened.ledger);
    await opened.ledger.close();
    await opened.query(
      [
        ...newTables.map((table) => `DROP TABLE hotel_review.${table}`),
        ...newRunColumns.map((column) => `ALTER TABLE hotel_review.runs DROP COLUMN ${column}`),
        ...newRejectColumns.map((column) => `ALTER TABLE hotel_review.rejects DROP COLUMN ${column}`),
        `CREATE TABLE hotel_review.${oldTable('bytea')}`,
        "INSERT INTO hotel_review.affected VALUES (1, 0, '\\\\x0100')",
        judged.replace('runs', 'hotel_review.runs'),
        'DELETE FROM hotel_review.migrations WHERE number > 1',
      ].join('; '),
    );
    await expect(opened.find()).rejects.toThrow(
      /expected schema \d+, got: schema 1, of an older version; start a run/,
    );
    await expect(opened.find()).rejects.toBeInstanceOf(LedgerUnusableError);
    const ledger = opened.open();
    expect(await ledger.runs.get('r1')).toMatchObject({
      ...{ id: run.id, state: run.state, delivery: 'file', trigger: 'hook' },
      counts: { accepted: run.counts.accepted, posted: run.counts.accepted, affected: 1, unanswered: 1 },
    });
    expect(await ledger.bookings.trace('BR-1')).toHaveLength(1);
    await expectStays(ledger);
    await syncRows(ledger.mappings, [rowOf('1', 10)]);
    expect((await (await opened.find())?.mappings.find(hotelOf('1')))?.mapping.serviceId).toBe(10);
  });
});
