import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnusableError } from '../../src/ledger/errors.js';
import { versions as postgresVersions } from '../../src/ledger/postgres/schema.js';
import { versions as sqliteVersions } from '../../src/ledger/sqlite/ledger-file.js';
import { collectedRun } from '../contracts/ledger/days.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';
import { type OpenedPostgresLedger, openNewPostgresLedger } from './opened-postgres.js';

/** The version after the newest one, while the test goes on. */
const laterVersion = 'ALTER TABLE runs ADD COLUMN later integer NOT NULL DEFAULT 7';
const versionsOf = [sqliteVersions, postgresVersions] as string[][];
function release(): void {
  for (const versions of versionsOf) versions.push(laterVersion);
}
afterEach(() => {
  for (const versions of versionsOf) if (versions.at(-1) === laterVersion) versions.pop();
});

describe('an SQLite ledger', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('is brought to a later version when it is opened, and keeps its data', async () => {
    await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    release();
    const ledger = await opened.reopen();
    expect((await ledger.runs.get('r1')).state).toBe('delivering');
    expect(opened.openRaw().get('SELECT later FROM runs')).toEqual({ later: 7 });
    await ledger.close();
    expect((await (await opened.reopen()).runs.get('r1')).state).toBe('delivering');
  });
});

describe('a PostgreSQL ledger', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  beforeEach(async () => {
    opened = await openNewPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  it('is brought to a later version by the first writer, and keeps its data; a reader says that this must happen first', async () => {
    await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    release();
    await expect(opened.find()).rejects.toThrow(
      /expected schema 2, got: schema 1, of an older version; start a run/,
    );
    await expect(opened.find()).rejects.toBeInstanceOf(LedgerUnusableError);
    expect((await opened.open().runs.get('r1')).state).toBe('delivering');
    expect(await opened.query('SELECT later FROM hotel_review.runs')).toEqual([{ later: 7 }]);
    expect((await (await opened.find())?.runs.get('r1'))?.state).toBe('delivering');
  });
});
