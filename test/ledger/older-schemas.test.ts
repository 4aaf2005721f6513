import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnusableError } from '../../src/review/ledger.js';
import { at, collectedRun } from '../contracts/ledger/days.js';
import { hotelOf, rowOf, syncRows } from '../contracts/mapping-copy/pages.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

const newTables = [
  'suspects',
  'mapping_moves',
  'mappings',
  'master_hotels',
  'mapping_syncs',
  'export_requests',
  'fetched_exports',
];
const newColumns = ['suspects', 'filled_in'];

describe('an SQLite ledger from before the copy of the mappings existed', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('is migrated when it is opened, and keeps its data', async () => {
    const run = await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    const raw = opened.openRaw();
    for (const table of newTables) raw.exec(`DROP TABLE ${table}`);
    for (const column of newColumns) raw.exec(`ALTER TABLE runs DROP COLUMN ${column}`);
    raw.exec('PRAGMA user_version = 2');
    raw.close();
    const ledger = await opened.reopen();
    expect(await ledger.getRun('r1')).toEqual(run);
    expect(await ledger.nextSuspects('r1')).toBeUndefined();
    expect(await ledger.trace('BR-1')).toHaveLength(1);
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
    opened = await openPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  it('is migrated by the first writer, and keeps its data; a reader says that this must happen first', async () => {
    const run = await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    await opened.query(
      [
        ...newTables.map((table) => `DROP TABLE hotel_review.${table}`),
        ...newColumns.map((column) => `ALTER TABLE hotel_review.runs DROP COLUMN ${column}`),
        'DELETE FROM hotel_review.migrations WHERE number > 1',
      ].join('; '),
    );
    await expect(opened.find()).rejects.toThrow(
      /expected schema \d+, got: schema 1, of an older version; start a run/,
    );
    await expect(opened.find()).rejects.toBeInstanceOf(LedgerUnusableError);
    const ledger = opened.open();
    expect(await ledger.getRun('r1')).toEqual(run);
    expect(await ledger.trace('BR-1')).toHaveLength(1);
    await syncRows(ledger.mappings, [rowOf('1', 10)]);
    expect((await (await opened.find())?.mappings.find(hotelOf('1')))?.mapping.serviceId).toBe(10);
  });
});
