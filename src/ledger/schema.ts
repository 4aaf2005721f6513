import { attempts } from './attempts.js';
import { storedBatches } from './batches.js';
import { canaries } from './canaries.js';
import { rejects, warnings } from './collecting.js';
import { LedgerUnusableError } from './errors.js';
import { suspects, verdicts } from './findings.js';
import { referenceRows, stayRows } from './hash-index.js';
import { keptColumns } from './kept-columns.js';
import { lastingTables } from './lasting-tables.js';
import { runs } from './run.js';
import { hookRequests } from './run-changes.js';
import { steps } from './steps.js';

/**
 * The schema of version 1, in the order in which a day passes through it: first what belongs to a run. A released version
 * is never changed: later ones are scripts of their own, see `schema.ts` of each database.
 *
 * It is SQLite's, except for these words, which each database replaces: `rownumber` is a primary key that the database
 * counts up; `bigint` and `bytes` are types; `clocktime` is an instant by the clock that decides which claims are
 * abandoned. Indexes of which the databases need another form are in `schema.ts` of each.
 */
const tables: readonly string[] = [
  ...[runs, hookRequests, storedBatches, keptColumns, referenceRows, stayRows].flatMap(({ schema }) =>
    schema(),
  ),
  ...[rejects, warnings, suspects, steps, verdicts, canaries, attempts].flatMap(({ schema }) => schema()),

  // The runs whose verdicts have become cases, and whether all of them have.
  `CREATE TABLE followed_runs (
    run bigint PRIMARY KEY REFERENCES runs (number),
    is_complete integer NOT NULL
  ) STRICT`,

  ...lastingTables,
];

/** A word of the schema, and what it is in a database. */
export type Replacement = readonly [word: string | RegExp, by: string];

export function createTables(replacements: readonly Replacement[]): string {
  return replacements.reduce((sql, [word, by]) => sql.replaceAll(word, by), `${tables.join(';\n')};\n`);
}

/** @throws LedgerUnusableError for the schema of a newer version of this program */
export function expectKnown(version: number, newest: number, place: string): void {
  if (version <= newest) return;
  throw new LedgerUnusableError(
    place,
    `expected schema ${newest} or older, got: schema ${version}; install the newer version that wrote it`,
  );
}

/** The ledgers of 0.1.0 had another form, and their own count of versions. */
export const ledgerOfBefore =
  'expected a ledger of version 1.0, got: one of an earlier version; finish its runs with that version, then start a new ledger';
