import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnusableError } from '../../src/ledger/errors.js';
import { versions as postgresVersions } from '../../src/ledger/postgres/postgres-ledger.js';
import { versions as sqliteVersions } from '../../src/ledger/sqlite/ledger-file.js';
import { collectedRun } from '../contracts/ledger/days.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';
import { type OpenedPostgresLedger, openNewPostgresLedger } from './opened-postgres.js';

/** The version after the newest one, while the test goes on. */
const laterVersion = 'ALTER TABLE runs ADD COLUMN later integer NOT NULL DEFAULT 7';
const versionsOf = [sqliteVersions, postgresVersions] as string[][];
/** One that breaks off in the middle, as when its process dies. */
const brokenVersion = `${laterVersion}; INSERT INTO nowhere VALUES (1)`;
function release(version = laterVersion): void {
  for (const versions of versionsOf) versions.push(version);
}
/** As for a process of the version before. */
function withdraw(): void {
  for (const versions of versionsOf) versions.length = 1;
}
afterEach(withdraw);

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

  it('is brought to a later version once more after a process that died of it', async () => {
    await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    release(brokenVersion);
    await expect(opened.reopen()).rejects.toThrow('nowhere');
    withdraw();
    release();
    expect((await (await opened.reopen()).runs.get('r1')).state).toBe('delivering');
  });

  it('is refused by a process that had it open before a later version came', async () => {
    release();
    await (await opened.reopen()).close();
    withdraw();
    await expect(opened.ledger.verify()).rejects.toThrow(
      /expected schema 1 or older, got: schema 2; install/,
    );
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

  it('is brought to a later version once more after a process that died of it', async () => {
    await collectedRun(opened.ledger, 'r1');
    await opened.ledger.close();
    release(brokenVersion);
    await expect(opened.open().runs.get('r1')).rejects.toThrow('42P01');
    withdraw();
    release();
    expect((await opened.open().runs.get('r1')).state).toBe('delivering');
  });

  it('is refused by a process that had it open before a later version came', async () => {
    await collectedRun(opened.ledger, 'r1');
    release();
    await opened.open().runs.get('r1');
    withdraw();
    await expect(opened.ledger.verify()).rejects.toThrow(
      /expected schema 1 or older, got: schema 2; install/,
    );
  });
});
