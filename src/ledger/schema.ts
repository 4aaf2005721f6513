import { auditTrail } from './audit.js';
import { keptColumns, storedBatches } from './batches.js';
import { canaries } from './canaries.js';
import { caseBookings, identifiedCases } from './cases.js';
import { dayOutcomes, standingPlaces, supersededPlaces } from './day-outcomes.js';
import { LedgerUnusableError } from './errors.js';
import { suspects, verdicts } from './findings.js';
import { followedRuns } from './followed-runs.js';
import { erasedGuests } from './guests.js';
import { hotelContents, hotelLoads } from './hotels.js';
import { createIdentity, ledgerIdentity } from './identity.js';
import { mailBookings, mailPairs, verdictMails } from './mails.js';
import {
  copied,
  exportRequests,
  fetchedExports,
  mappingMoves,
  masterHotels,
  skippedMappings,
  syncs,
  watchedMoves,
} from './mappings.js';
import { messages, notedInstants, storedNotices } from './notices.js';
import { rejects, warnings } from './rejects.js';
import { hookRequests } from './run-changes.js';
import { runs } from './runs.js';
import { referenceRows, stayRows } from './stays.js';
import { attempts, steps } from './steps.js';
import { wantedDays } from './wanted-days.js';

/**
 * The schema of version 1, in the order in which a day passes through it: first what belongs to a run, then what outlives
 * runs. A released version is never changed: later ones are scripts of their own, see `schema.ts` of each database.
 *
 * It is SQLite's, except for these words, which each database replaces: `rownumber` is a primary key that the database
 * counts up; `bigint` and `bytes` are types; `randomtext` is 32 random digits; `clocktime` is an instant by the clock that decides which claims are
 * abandoned. Indexes of which the databases need another form are in `schema.ts` of each.
 */
const statements: readonly string[] = [
  ...[runs, wantedDays, hookRequests, storedBatches, keptColumns, referenceRows, stayRows],
  ...[rejects, warnings, suspects, steps, verdicts, canaries, attempts, followedRuns],
  ...[dayOutcomes, standingPlaces, supersededPlaces],
  ...[copied, mappingMoves, masterHotels, syncs, skippedMappings, hotelLoads, hotelContents],
  ...[exportRequests, fetchedExports, verdictMails, mailBookings, mailPairs, identifiedCases, caseBookings],
  ...[storedNotices, messages, notedInstants, erasedGuests, auditTrail, ledgerIdentity],
]
  .flatMap(({ schema }) => schema())
  .concat(watchedMoves, createIdentity);

/** A word of the schema, and what it is in a database. */
export type Replacement = readonly [word: string | RegExp, by: string];

export function createTables(replacements: readonly Replacement[]): string {
  return replacements.reduce((sql, [word, by]) => sql.replaceAll(word, by), `${statements.join(';\n')};\n`);
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
