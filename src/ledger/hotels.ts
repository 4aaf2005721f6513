import type { Hold } from '../async/hold.js';
import type { Coordinates } from '../geography/distance.js';
import { SafeError } from '../text/safe-error.js';
import { bind, change, database, gather, one, type Query, type Store } from './query.js';
import type { StoredRow } from './stored-values.js';
import { bigint, integer, optional, table, text } from './table.js';

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

const loads = table('hotel_loads', {
  id: text(),
  /** The name of the file. */
  file: text(),
  startedAt: bigint,
  finishedAt: optional(bigint),
  /** Different master hotels that the file names. */
  hotels: optional(bigint),
  /** Hotels that only earlier files named. */
  kept: optional(bigint),
});

/** Starts a load. Nobody sees its hotels before `finishLoad`. */
function* beginLoad({ id, file, at }: NewHotelLoad): Query<void> {
  yield* loads.add({ id, file, startedAt: at }, 'ON CONFLICT (id) DO NOTHING');
}

const contents = table('hotel_contents', {
  ...{ load: bigint, serviceId: bigint, loadedAt: bigint },
  ...{ microdegreesNorth: optional(integer), microdegreesEast: optional(integer) },
  ...{ name: optional(text()), address: optional(text()), city: optional(text()) },
  ...{ country: optional(text()), countryCode: optional(text()), phones: optional(text()) },
  ...{ email: optional(text()), website: optional(text()) },
});

/** In the order of their columns. */
const textProperties = [
  'name',
  'address',
  'city',
  'country',
  'countryCode',
  'phones',
  'email',
  'website',
] as const;

/**
 * Adds hotels to a load; the last of several with the same id counts. Adding the same ones again after a lost answer
 * changes nothing.
 *
 * @throws LoadOvertakenError when the load is no longer at `after`: another process has started one
 */
function* addHotels({ id, after, hotels }: HotelChunk): Query<void> {
  const { number, started_at, rows } = yield* readOpenLoad(id);
  if (Number(rows) === after + hotels.length) return;
  if (Number(rows) !== after) throw overtaken();
  yield* contents.insert(
    hotels.map(({ coordinates, ...hotel }) => ({
      ...{ ...hotel, load: Number(number), loadedAt: Number(started_at) },
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
function* latestLoad(): Query<HotelLoad | undefined> {
  const row = yield* one(
    `SELECT * FROM hotel_loads WHERE finished_at IS NOT NULL ORDER BY number DESC LIMIT 1`,
  );
  return row && toLoad(row);
}

/** The content of each master hotel, in the order of the request. At most 1,000 per call. */
function* lookUp(serviceIds: readonly number[]): Query<(KnownHotel | undefined)[]> {
  const dialect = yield* database();
  const { sql, values } = dialect.findContents(yield* findCurrentLoad(), serviceIds);
  const rows = yield* gather<HotelCells>(lookUpColumns, `(${sql}) AS contents`, ...values);
  // If a hotel has several rows, the last one counts.
  rows.sort(([one], [other]) => one - other);
  const found = new Map(rows.map((cells) => [cells[1], cells]));
  return serviceIds.map((serviceId) => {
    const cells = found.get(serviceId);
    return cells && toHotel(cells);
  });
}

function toLoad(row: StoredRow): HotelLoad {
  return {
    id: String(row.id),
    file: String(row.file),
    at: Number(row.started_at),
    finishedAt: Number(row.finished_at),
    hotels: Number(row.hotels),
    kept: Number(row.kept),
  };
}

const lookUpColumns = [
  ...['number', 'service_id', 'loaded_at', 'microdegrees_north', 'microdegrees_east'],
  ...['name', 'address', 'city', 'country', 'country_code', 'phones', 'email', 'website'],
];

type HotelCells = readonly [
  number: number,
  serviceId: number,
  loadedAt: number,
  north: number | null,
  east: number | null,
  ...texts: (string | null)[],
];

function toHotel([, serviceId, loadedAt, north, east, ...texts]: HotelCells): KnownHotel {
  const hotel: { -readonly [Name in keyof KnownHotel]: KnownHotel[Name] } = { serviceId, loadedAt };
  if (north !== null && east !== null)
    hotel.coordinates = { latitude: north / microdegrees, longitude: east / microdegrees };
  for (const [index, property] of textProperties.entries()) {
    const text = texts[index];
    if (text != null) hotel[property] = text;
  }
  return hotel;
}

/** Coordinates are stored as integers, to a tenth of a metre. */
const microdegrees = 1_000_000;

function toMicrodegrees(degrees: number | undefined): number | undefined {
  return degrees === undefined ? undefined : Math.round(degrees * microdegrees);
}

function overtaken(): LoadOvertakenError {
  return new LoadOvertakenError(
    'another process has started to load the content of the hotels; this process stops',
  );
}

/** The content of a master hotel; what is absent is not known. (Spec 2.7.) */
export interface HotelContent {
  readonly serviceId: number;
  readonly name?: string;
  readonly coordinates?: Coordinates;
  readonly address?: string;
  readonly city?: string;
  readonly country?: string;
  /** ISO 3166-1 */
  readonly countryCode?: string;
  /** One or several: the separator is not specified. */
  readonly phones?: string;
  readonly email?: string;
  readonly website?: string;
}

export interface KnownHotel extends HotelContent {
  /** When the last load that names it started. */
  readonly loadedAt: number;
}

export interface NewHotelLoad {
  readonly id: string;
  /** The name of the file. */
  readonly file: string;
  readonly at: number;
}

export interface HotelChunk {
  /** The load. */
  readonly id: string;
  /** How many rows the load had before. */
  readonly after: number;
  readonly hotels: readonly HotelContent[];
}

export interface HotelLoad extends NewHotelLoad {
  readonly finishedAt: number;
  /** Different master hotels that the file names. */
  readonly hotels: number;
  /** Hotels that only earlier files named. */
  readonly kept: number;
}

/** Another process holds the right to load. */
export class LoadBusyError extends SafeError {
  override readonly name = 'LoadBusyError';
}

/** Another process has started a load. */
export class LoadOvertakenError extends SafeError {
  override readonly name = 'LoadOvertakenError';
}
