import { auditTrail } from './audit.js';
import { extraColumns, storedBatches } from './batches.js';
import { canaries } from './canaries.js';
import { caseBookings, followedRuns, identifiedCases } from './cases.js';
import { dayOutcomes, standingRows, supersededRows } from './stored-outcomes.js';
import { LedgerUnusableError } from './errors.js';
import { suspects, verdicts } from './findings.js';
import { erasedGuests } from './guests.js';
import { hotelContents, hotelLoads } from './hotels.js';
import { ledgerIdentity } from './identity.js';
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
import { bookingPages } from './stays.js';
import { attempts, steps } from './steps.js';
import type { SchemaWords } from './table.js';
import { wantedDays } from './wanted-days.js';

const tables = [
  ...[runs, wantedDays, hookRequests, storedBatches, extraColumns, bookingPages],
  ...[rejects, warnings, suspects, steps, verdicts, canaries, attempts, followedRuns],
  ...[dayOutcomes, standingRows, supersededRows],
  ...[copied, mappingMoves, masterHotels, syncs, skippedMappings, hotelLoads, hotelContents],
  ...[exportRequests, fetchedExports, verdictMails, mailBookings, mailPairs, identifiedCases, caseBookings],
  ...[storedNotices, messages, notedInstants, erasedGuests, auditTrail, ledgerIdentity, watchedMoves],
];

const firstRows = ({ randomText }: SchemaWords) => [
  'INSERT INTO watched_moves (last_move) VALUES (0)',
  `INSERT INTO ledger_identity (id) VALUES (${randomText})`,
];

/**
 * The schema of version 1, in the order in which a day passes through it: first what belongs to a run, then what outlives
 * runs. A released version is never changed: later ones are scripts of their own, see `schema.ts` of each database.
 * Indexes of which the databases need another form are in `schema.ts` of each.
 */
export function createTables(words: SchemaWords): string {
  const statements = [...tables.flatMap(({ schema }) => schema(words)), ...firstRows(words)];
  return `${statements.join(';\n')};\n`;
}

/** @throws LedgerUnusableError for the schema of a newer version of this program */
export function expectKnown(version: number, newest: number, location: string): void {
  if (version <= newest) return;
  throw new LedgerUnusableError(
    location,
    `expected schema ${newest} or older, got: schema ${version}; install the newer version that wrote it`,
  );
}

/** The ledgers of 0.1.0 had another form, and their own count of versions. */
export const ledgerOfBefore =
  'expected a ledger of version 1.0, got: one of an earlier version; finish its runs with that version, then start a new ledger';
