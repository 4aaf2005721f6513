import { LedgerUnusableError } from '../errors.js';
import { createTables, expectKnown } from '../schema.js';
import type { Database } from './database.js';

/** Marks the file as a ledger: the letters `hotl`. */
const applicationId = 0x68_6f_74_6c;

/** Scripts, one for each version; the database's `user_version` counts those that were applied. */
export const versions: readonly string[] = [
  `PRAGMA application_id = ${applicationId};
  ${createTables({
    rowNumber: 'integer PRIMARY KEY',
    types: { integer: 'integer', bigint: 'integer', text: 'text', bytes: 'blob', clocktime: 'integer' },
    randomText: 'lower(hex(randomblob(16)))',
    tableOptions: (isItsIndex) => ` STRICT${isItsIndex ? ', WITHOUT ROWID' : ''}`,
  })}
  CREATE UNIQUE INDEX mappings_by_hotel ON mappings (provider_name, provider_hotel_id);
  CREATE INDEX contents_by_hotel ON hotel_contents (load, service_id);
  CREATE INDEX case_bookings_by_reference ON case_bookings (reference) WHERE reference IS NOT NULL`,
];

/**
 * Brings the schema up to date. Returns whether there was something to do.
 *
 * @param path of the database, for messages
 * @throws LedgerUnusableError like `readSchema`
 */
export function migrate(database: Database, path: string): boolean {
  if (readSchema(database, path) === versions.length) return false;
  database.transact(() => {
    for (const version of versions.slice(readSchema(database, path))) database.exec(version);
    database.exec(`PRAGMA user_version = ${versions.length}`);
  });
  return true;
}

/**
 * Returns the version of the database's schema, 0 for an empty one. Changes nothing.
 *
 * @throws LedgerUnusableError if an older or newer version of this program, or a different program, created it
 */
export function readSchema(database: Database, path: string): number {
  // One statement, so that no other process can migrate between the reads.
  const found = database.get(
    `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS things
     FROM pragma_application_id, pragma_user_version`,
  );
  const version = Number(found?.user_version);
  if (version === 0 && found?.things === 0) return 0;
  if (found?.application_id !== applicationId) {
    throw new LedgerUnusableError(
      path,
      'expected a ledger or no file, got: a database of another program; name another file with the setting ledger',
    );
  }
  expectKnown(version, versions.length, path);
  return version;
}
