import { LedgerUnusableError } from '../errors.js';
import type { Database } from './database.js';
import { migrations } from './migrations.js';

/**
 * Brings the schema up to date.
 *
 * @param path of the database, for messages
 * @throws LedgerUnusableError if a newer version of this program, or a different program, created it
 */
export function migrate(database: Database, path: string): void {
  if (readSchema(database, path) === migrations.length) return;
  database.transact(() => {
    for (const migration of migrations.slice(readSchema(database, path))) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/**
 * Returns how many migrations the database has. Changes nothing.
 *
 * @throws LedgerUnusableError like `migrate`
 */
export function readSchema(database: Database, path: string): number {
  // One statement, so that no other process can migrate between the two reads.
  const found = database.get(
    `SELECT user_version, (SELECT count(*) FROM sqlite_schema) AS things,
       (SELECT count(*) FROM sqlite_schema WHERE name = 'runs') AS runs
     FROM pragma_user_version`,
  );
  const schema = Number(found?.user_version);
  const isLedger = schema === 0 ? found?.things === 0 : found?.runs === 1;
  if (!isLedger) {
    throw new LedgerUnusableError(
      path,
      'expected a ledger or no file, got: a database of another program; name another file with the setting ledger',
    );
  }
  if (schema > migrations.length) {
    throw new LedgerUnusableError(
      path,
      `expected schema ${migrations.length} or older, got: schema ; install the newer version that wrote it`,
    );
  }
  return schema;
}
