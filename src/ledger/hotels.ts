import type { Coordinates } from '../base/geography.js';
import { SafeError } from '../base/safe-error.js';
import { change, count, database, one, type Query, reads, readsTogether, sql, writes } from './query.js';
import * as t from './table.js';

/** A load becomes visible when it is finished. */
export const hotelLoads = t.table(
  'hotel_loads',
  {
    id: t.text(),
    /** The name of the file. */
    file: t.text(),
    at: t.bigint,
    rows: t.byDefault(0, t.bigint),
    finishedAt: t.optional(t.bigint),
    /** Different master hotels that the file names. */
    hotels: t.optional(t.bigint),
    /** Hotels that only earlier files named. */
    kept: t.optional(t.bigint),
  },
  { isNumbered: true, unique: ['id'] },
);
const finished = hotelLoads.only('id', 'file', 'at', 'finishedAt', 'hotels', 'kept');
/** A finished load. */
export type HotelLoad = Required<t.Row<typeof finished>>;

const optionalText = t.optional(t.text());
export const hotelContents = t.table(
  'hotel_contents',
  {
    load: t.bigint,
    serviceId: t.bigint,
    /** When the last load that names it started. */
    loadedAt: t.bigint,
    name: optionalText,
    /** Coordinates are stored as integers, to a tenth of a metre. */
    microdegreesNorth: t.optional(t.integer),
    microdegreesEast: t.optional(t.integer),
    address: optionalText,
    city: optionalText,
    country: optionalText,
    /** ISO 3166-1 */
    countryCode: optionalText,
    /** One or several: the separator is not specified. */
    phones: optionalText,
    email: optionalText,
    website: optionalText,
  },
  { isNumbered: true },
);

/** The content of a master hotel as a load names it; what is absent is not known. */
export interface KnownHotel
  extends Omit<t.Row<typeof hotelContents>, 'load' | 'microdegreesNorth' | 'microdegreesEast'> {
  readonly coordinates?: Coordinates;
}

/** The content of a master hotel. (Spec 2.7.) */
export type HotelContent = Omit<KnownHotel, 'loadedAt'>;

/** Starts a load. Nobody sees its hotels before `finishLoad`. */
export const beginLoad = writes(function* (load: t.NewRow<typeof hotelLoads>): Query<void> {
  yield* hotelLoads.add(load);
});

/**
 * Adds hotels to a load; the last of several with the same id counts.
 *
 * @throws LoadOvertakenError when the load is no longer at `after`: another process has started one
 */
export const addHotels = writes(function* ({
  id,
  after,
  hotels,
}: {
  /** The load. */
  readonly id: string;
  /** How many rows the load had before. */
  readonly after: number;
  readonly hotels: readonly HotelContent[];
}): Query<void> {
  const { number, at, rows } = yield* readOpenLoad(id);
  if (rows !== after) throw overtaken();
  yield* hotelContents.insert(
    hotels.map(({ coordinates, ...hotel }) => ({
      ...hotel,
      load: number,
      loadedAt: at,
      microdegreesNorth: toMicrodegrees(coordinates?.latitude),
      microdegreesEast: toMicrodegrees(coordinates?.longitude),
    })),
  );
  yield* change(sql`UPDATE ${hotelLoads} SET rows = ${after + hotels.length} WHERE number = ${number}`);
});

/** A load that is the newest one and not finished. */
function* readOpenLoad(id: string) {
  const { lock } = yield* database();
  const open = yield* one<{ readonly number: number; readonly at: number; readonly rows: number }>(
    sql`SELECT * FROM ${hotelLoads}
     WHERE id = ${id} AND finished_at IS NULL AND number = (SELECT max(number) FROM ${hotelLoads}) ${lock}`,
  );
  if (!open) throw overtaken();
  return open;
}

/** Makes the load the one that everybody sees. @throws LoadOvertakenError */
export const finishLoad = writes(function* (id: string, at: number): Query<HotelLoad> {
  const { number: load } = yield* readOpenLoad(id);
  const hotels = yield* countHotels(load);
  yield* change(
    sql`UPDATE ${hotelContents} AS earlier SET load = ${load}
     WHERE load = ${yield* findCurrentLoad()} AND NOT EXISTS (
       SELECT 1 FROM ${hotelContents} AS named
       WHERE named.load = ${load} AND named.service_id = earlier.service_id
     )`,
  );
  const kept = (yield* countHotels(load)) - hotels;
  yield* change(
    sql`UPDATE ${hotelLoads} SET finished_at = ${at}, hotels = ${hotels}, kept = ${kept} WHERE number = ${load}`,
  );
  return (yield* latestLoad()) as HotelLoad;
});

const countHotels = (load: number) =>
  count(sql`SELECT count(DISTINCT service_id) AS number FROM ${hotelContents} WHERE load = ${load}`);

/** Removes rows of unfinished loads, too: call it while no load is open. */
export const removeUnseen = writes(function* (limit: number): Query<number> {
  const seen = yield* findCurrentLoad();
  let removed = 0;
  // In the order of the index: otherwise PostgreSQL may read the whole table each time.
  for (const isUnseen of [sql`load < ${seen}`, sql`load > ${seen}`])
    removed += yield* change(
      sql`DELETE FROM ${hotelContents} WHERE number IN (
         SELECT number FROM ${hotelContents} WHERE ${isUnseen} ORDER BY load, service_id LIMIT ${limit - removed}
       )`,
    );
  return removed;
});

/** The number of the last load that was finished; 0 if there is none. */
const findCurrentLoad = () =>
  count(sql`SELECT max(number) AS number FROM ${hotelLoads} WHERE finished_at IS NOT NULL`);

/** The last load that was finished. */
export const latestLoad = reads(
  (): Query<HotelLoad | undefined> =>
    one(
      sql`SELECT ${finished.names} FROM ${hotelLoads} WHERE finished_at IS NOT NULL
       ORDER BY number DESC LIMIT 1`,
    ),
);

/** The content of each master hotel, in the order of the request. */
export const lookUp = readsTogether(function* (
  serviceIds: readonly number[],
): Query<(KnownHotel | undefined)[]> {
  const { isListed } = yield* database();
  const rows = yield* hotelContents.list(
    sql`WHERE load = ${yield* findCurrentLoad()} AND ${isListed(sql`service_id`, serviceIds)} ORDER BY number`,
  );
  // If a hotel has several rows, the last one counts.
  const found = new Map(rows.map((row) => [row.serviceId, row]));
  return serviceIds.map((serviceId) => {
    const row = found.get(serviceId);
    return row && toHotel(row);
  });
});

function toHotel(row: t.Row<typeof hotelContents>): KnownHotel {
  const { load, microdegreesNorth: north, microdegreesEast: east, ...hotel } = row;
  if (north === undefined || east === undefined) return hotel;
  return { ...hotel, coordinates: { latitude: north / microdegrees, longitude: east / microdegrees } };
}

const microdegrees = 1_000_000;

function toMicrodegrees(degrees: number | undefined): number | undefined {
  return degrees === undefined ? undefined : Math.round(degrees * microdegrees);
}

function overtaken(): LoadOvertakenError {
  return new LoadOvertakenError(
    'another process has started to load the content of the hotels; this process stops',
  );
}

/** Another process holds the right to load. */
export class LoadBusyError extends SafeError {
  override readonly name = 'LoadBusyError';
}

/** Another process has started a load. */
export class LoadOvertakenError extends SafeError {
  override readonly name = 'LoadOvertakenError';
}
