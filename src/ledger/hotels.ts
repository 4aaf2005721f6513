import type { Hold } from '../async/hold.js';
import type { Coordinates } from '../geography/distance.js';
import { SafeError } from '../text/safe-error.js';
import type { StoredRow } from './query.js';
import { all, bind, change, database, one, type Query, type Store } from './query.js';
import { bigint, integer, type NewRow, optional, type Row, table, text } from './table.js';

/** @param holdLoad takes the exclusive right to load, without waiting */
export function createHotels(store: Store, holdLoad: () => Promise<Hold | undefined>) {
  return {
    ...createHotelReader(store),
    /** Takes the exclusive right to load without waiting; undefined while a live process holds it. */
    holdLoad,
    ...bind(store.transact, { beginLoad, addHotels, finishLoad, removeUnseen }),
  };
}

export function createHotelReader({ read, readTogether }: Store) {
  return { ...bind(readTogether, { lookUp }), ...bind(read, { latestLoad }) };
}

const begun = {
  id: text(),
  /** The name of the file. */
  file: text(),
  at: bigint,
};
const newLoads = table('hotel_loads', begun);
const loads = table('hotel_loads', {
  ...{ ...begun, finishedAt: bigint },
  /** Different master hotels that the file names. */
  hotels: bigint,
  /** Hotels that only earlier files named. */
  kept: bigint,
});
/** A finished load. */
export type HotelLoad = Row<typeof loads>;

const contents = table('hotel_contents', {
  serviceId: bigint,
  load: bigint,
  /** When the last load that names it started. */
  loadedAt: bigint,
  name: optional(text()),
  /** Coordinates are stored as integers, to a tenth of a metre. */
  ...{ microdegreesNorth: optional(integer), microdegreesEast: optional(integer) },
  ...{ address: optional(text()), city: optional(text()), country: optional(text()) },
  /** ISO 3166-1 */
  countryCode: optional(text()),
  /** One or several: the separator is not specified. */
  phones: optional(text()),
  ...{ email: optional(text()), website: optional(text()) },
});

/** The content of a master hotel as a load names it; what is absent is not known. */
export interface KnownHotel
  extends Omit<Row<typeof contents>, 'load' | 'microdegreesNorth' | 'microdegreesEast'> {
  readonly coordinates?: Coordinates;
}

/** The content of a master hotel. (Spec 2.7.) */
export type HotelContent = Omit<KnownHotel, 'loadedAt'>;

/** Starts a load. Nobody sees its hotels before `finishLoad`. */
function* beginLoad(load: NewRow<typeof newLoads>): Query<void> {
  yield* newLoads.add(load, 'ON CONFLICT (id) DO NOTHING');
}

/**
 * Adds hotels to a load; the last of several with the same id counts. Adding the same ones again after a lost answer
 * changes nothing.
 *
 * @throws LoadOvertakenError when the load is no longer at `after`: another process has started one
 */
function* addHotels({ id, after, hotels }: HotelChunk): Query<void> {
  const { number, at, rows } = yield* readOpenLoad(id);
  if (Number(rows) === after + hotels.length) return;
  if (Number(rows) !== after) throw overtaken();
  yield* contents.insert(
    hotels.map(({ coordinates, ...hotel }) => ({
      ...{ ...hotel, load: Number(number), loadedAt: Number(at) },
      microdegreesNorth: toMicrodegrees(coordinates?.latitude),
      microdegreesEast: toMicrodegrees(coordinates?.longitude),
    })),
  );
  yield* change(`UPDATE hotel_loads SET rows = ? WHERE number = ?`, after + hotels.length, Number(number));
}

/** The row of a load that is the newest one and not finished. */
function* readOpenLoad(id: string): Query<StoredRow> {
  const { lock } = yield* database();
  const row = yield* one(
    `SELECT * FROM hotel_loads
     WHERE id = ? AND finished_at IS NULL AND number = (SELECT max(number) FROM hotel_loads) ${lock}`,
    id,
  );
  if (!row) throw overtaken();
  return row;
}

/** Makes the load the one that everybody sees. @throws LoadOvertakenError */
function* finishLoad(id: string, at: number): Query<HotelLoad> {
  const last = yield* latestLoad();
  if (last?.id === id) return last;
  const load = Number((yield* readOpenLoad(id)).number);
  const hotels = yield* countHotels(load);
  yield* change(
    `UPDATE hotel_contents AS earlier SET load = ?
     WHERE load = ? AND NOT EXISTS (
       SELECT 1 FROM hotel_contents AS named
       WHERE named.load = ? AND named.service_id = earlier.service_id
     )`,
    load,
    yield* findCurrentLoad(),
    load,
  );
  yield* change(
    `UPDATE hotel_loads SET finished_at = ?, hotels = ?, kept = ? WHERE number = ?`,
    at,
    hotels,
    (yield* countHotels(load)) - hotels,
    load,
  );
  return (yield* latestLoad()) as HotelLoad;
}

function* countHotels(load: number): Query<number> {
  const found = yield* one(
    `SELECT count(DISTINCT service_id) AS hotels FROM hotel_contents WHERE load = ?`,
    load,
  );
  return Number(found?.hotels);
}

/** Removes rows of unfinished loads, too: call it while no load is open. */
function* removeUnseen(limit: number): Query<number> {
  const seen = yield* findCurrentLoad();
  let removed = 0;
  // In the order of the index: otherwise PostgreSQL may read the whole table each time.
  for (const isUnseen of ['load < ?', 'load > ?'])
    removed += yield* change(
      `DELETE FROM hotel_contents WHERE number IN (
         SELECT number FROM hotel_contents WHERE ${isUnseen} ORDER BY load, service_id LIMIT ${limit - removed}
       )`,
      seen,
    );
  return removed;
}

/** The number of the last load that was finished; 0 if there is none. */
function* findCurrentLoad(): Query<number> {
  const last = yield* one(
    `SELECT coalesce(max(number), 0) AS number FROM hotel_loads WHERE finished_at IS NOT NULL`,
  );
  return Number(last?.number);
}

/** The last load that was finished. */
const latestLoad = () => loads.find('WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT 1');

/** The content of each master hotel, in the order of the request. */
function* lookUp(serviceIds: readonly number[]): Query<(KnownHotel | undefined)[]> {
  const { findContents } = yield* database();
  const { sql, values } = findContents(yield* findCurrentLoad(), serviceIds);
  // If a hotel has several rows, the last one counts.
  const found = new Map((yield* all(sql, ...values)).map((row) => [Number(row.service_id), row]));
  return serviceIds.map((serviceId) => {
    const row = found.get(serviceId);
    return row && toHotel(row);
  });
}

function toHotel(row: StoredRow): KnownHotel {
  const { load, microdegreesNorth: north, microdegreesEast: east, ...hotel } = contents.read(row);
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

export interface HotelChunk {
  /** The load. */
  readonly id: string;
  /** How many rows the load had before. */
  readonly after: number;
  readonly hotels: readonly HotelContent[];
}

/** Another process holds the right to load. */
export class LoadBusyError extends SafeError {
  override readonly name = 'LoadBusyError';
}

/** Another process has started a load. */
export class LoadOvertakenError extends SafeError {
  override readonly name = 'LoadOvertakenError';
}
