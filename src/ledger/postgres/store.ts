import { hashReference } from '../../booking/booking.js';
import type { ProviderHotel } from '../../booking/line-form.js';
import { gatherCandidates } from '../hash-index.js';
import { toStorableHotel } from '../mapping-changes.js';
import { type CopiedMapping, copied } from '../mappings.js';
import { all, type Candidates, type Dialect, type Query, type Store, type TraceRange } from '../query.js';
import type { Remains } from '../retention.js';
import { createSealing } from '../sealing.js';
import type { Database } from './database.js';
import type { PostgresReaderOptions } from './postgres-ledger.js';
import { linesAsText } from './session.js';

/** One lock for all writers of the copy, whatever their scope: the letters `maps`. */
const copyLock = 0x6d_61_70_73;
/** One lock for all writers of cases: the letters `case`. */
const caseLock = 0x63_61_73_65;

const common: Omit<Dialect, 'sealing' | 'mayBeDone'> = {
  stepsByPredecessor: 'steps',
  stepsBySlice: 'steps',
  mappingsByNumber: 'mappings',
  lines: linesAsText('lines'),
  lock: 'FOR NO KEY UPDATE',
  lockMappings: `SELECT pg_advisory_xact_lock(${copyLock})`,
  lockCases: `SELECT pg_advisory_xact_lock(${caseLock})`,
  isMappingOfCase: `left(mappings.provider_name, 200) = left(cases.provider_name, 200)
    AND mappings.provider_name = cases.provider_name
    AND left(mappings.provider_hotel_id, 200) = left(cases.provider_hotel_id, 200)
    AND mappings.provider_hotel_id = cases.provider_hotel_id`,
  // Under 2 KB a page, so that it is stored in the table itself and a look-up reads no more than that.
  reference_pages: { pageEntries: 224 },
  stay_pages: { pageEntries: 224 },
  // `now()` is the time when the transaction started, the same for all of its statements.
  isAbandoned: () => ({ sql: 'lease_until <= now()', values: [] }),
  isHotel: ({ providerName, providerHotelId }) => ({
    sql: isHotel('?', '?'),
    values: [providerName, providerName, providerHotelId, providerHotelId],
  }),
  isReference: (reference) => ({
    sql: 'left(reference, 200) = left(?, 200) AND reference = ?',
    values: [reference, reference],
  }),
  isListed: (column, list) => ({ sql: `${column} = ANY (?)`, values: [list.map(String)] }),
  // One index look-up per hotel, also before the server has statistics of a load. The last row of a hotel counts.
  findContents: (load, serviceIds) => ({
    sql: `SELECT found.* FROM unnest(?::bigint[]) AS asked (id) CROSS JOIN LATERAL (
       SELECT * FROM hotel_contents WHERE load = ? AND service_id = asked.id
       ORDER BY number DESC LIMIT 1
     ) AS found`,
    values: [serviceIds.map(String), load],
  }),
  findCandidates,
  lookUp,
};

/** We can't do it, and can't see when it is done. */
const remains: Remains = {
  why: 'PostgreSQL keeps old versions of rows, and its write-ahead log',
  until: 'it vacuums the tables and reuses the space, by itself or with VACUUM FULL, and recycles the log',
};

/** PostgreSQL as a store of the ledger. */
export function createPostgresStore(
  { perform, snapshot, transact }: Database,
  { keys, hashKey }: Pick<PostgresReaderOptions, 'keys' | 'hashKey'>,
): Store {
  const dialect = { ...common, sealing: createSealing(keys, hashKey), mayBeDone: false };
  const inTransaction: Store['transact'] = (query) =>
    transact((session, mayBeDone) => session.perform(query(), { ...dialect, mayBeDone }));
  return {
    dialect,
    async noteRemoval() {},
    clearRemains: async () => remains,
    read: (query) => perform((session) => session.perform(query(), dialect)),
    readTogether: (query) => snapshot((session) => session.perform(query(), dialect)),
    transact: inTransaction,
    transactUnflushed: inTransaction,
  };
}

/**
 * Searches all runs, newest first. The pages of a segment are sorted; those that may contain the hash start with the last page
 * whose first hash is smaller. Without that bound every page before it would be read. The server looks into the pages
 * itself: after years, thousands of runs have one each, and sending them would take most of the time. `OFFSET` keeps it from
 * reading the pages of all segments together.
 */
function* findCandidates(reference: string, { day, from, to }: TraceRange): Query<Candidates[]> {
  const hash = hashReference(reference);
  // The hash as bytes of an entry.
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(hash);
  const rows = yield* all(
    `SELECT number, of_form AS form, batch_size, entries
     FROM runs CROSS JOIN (VALUES ('body'), ('file')) AS forms (of_form)
     CROSS JOIN LATERAL generate_series(0, (
       SELECT max(segment) FROM reference_pages WHERE run = number AND form = of_form
     )) AS segments (of_segment)
     CROSS JOIN LATERAL (
       SELECT entries FROM reference_pages
       WHERE run = number AND form = of_form AND segment = of_segment
         AND first_hash <= ? AND last_hash >= ? AND first_hash >= coalesce(
           (SELECT max(before.first_hash) FROM reference_pages AS before
              WHERE before.run = number AND before.form = of_form AND before.segment = of_segment
                AND before.first_hash < ?), ?)
         AND position(?::bytea IN entries) > 0 OFFSET 0
     ) AS pages
     WHERE pruned_at IS NULL AND day = coalesce(?, day) AND number BETWEEN ? AND ?`,
    ...[hash, hash, hash, hash],
    bytes,
    ...[day ?? null, from, to],
  );
  return gatherCandidates(rows, hash);
}

/** Finds a provider hotel by the index, which covers only the start of each name. */
function isHotel(quotedProvider: string, quotedHotel: string): string {
  return `left(provider_name, 200) = left(${quotedProvider}, 200) AND provider_name = ${quotedProvider}
    AND left(provider_hotel_id, 200) = left(${quotedHotel}, 200) AND provider_hotel_id = ${quotedHotel}`;
}

/** The copy's mapping of each hotel, in the order of the request. */
function* lookUp(hotels: readonly ProviderHotel[]): Query<(CopiedMapping | undefined)[]> {
  const asked = hotels.map(toStorableHotel);
  const { rows } = yield {
    kind: 'read',
    name: 'look up mappings',
    // The limit keeps the plan at one index look-up per hotel, however many rows the planner expects.
    sql: `SELECT place, found.* FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS asked (provider, hotel, place)
     CROSS JOIN LATERAL (
       SELECT ${copied.names} FROM mappings
       WHERE ${isHotel('asked.provider', 'asked.hotel')} LIMIT 1
     ) AS found`,
    values: [
      asked.map(({ providerName }) => providerName),
      asked.map(({ providerHotelId }) => providerHotelId),
    ],
  };
  const found = new Array<CopiedMapping | undefined>(hotels.length).fill(undefined);
  for (const row of rows) found[Number(row.place) - 1] = copied.read(row);
  return found;
}
