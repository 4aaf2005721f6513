import type { BookingForm } from '../review/step.js';
import type {
  NamedPair,
  NamedPlace,
  NamedThings,
  ReceivedPair,
  StoredBooking,
} from '../verdict-mails/mail-log.js';
import { isNamedByMapping, type NamedStay } from '../verdict-mails/mail-log.js';
import { type BatchOfRun, readPlaces } from './mail-bookings.js';
import { all, type Dialect, one, type Query } from './query.js';
import { runNumber } from './runs.js';
import { readColumns, type StoredRow, toStorable } from './stored-values.js';

/** When the first e-mail that names a booking was received; undefined if none does. */
export function* findNaming(
  { schema }: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Query<number | undefined> {
  const row = yield* one(
    `SELECT min(received_at) AS at FROM ${schema}mail_bookings JOIN ${schema}verdict_mails ON number = mail
     WHERE run = ? AND form = ? AND batch = ? AND place = ?`,
    run,
    form,
    batch,
    place,
  );
  return readColumns(row ?? {}).integer('at');
}

/** When the first e-mail was received that names the mapping of a booking; undefined if none does. */
export function* findNamingMapping(
  { schema }: Dialect,
  { providerName, providerHotelId, serviceId }: NamedPair,
  stay: NamedStay,
): Query<number | undefined> {
  const rows = yield* all(
    `SELECT received_at FROM ${schema}mail_pairs JOIN ${schema}verdict_mails ON number = mail
     WHERE provider_hotel_id = ? AND provider_name = ? AND service_id = ? ORDER BY received_at`,
    toStorable(providerHotelId),
    toStorable(providerName),
    serviceId,
  );
  return rows.map((row) => Number(row.received_at)).find((receivedAt) => isNamedByMapping(receivedAt, stay));
}

export function* readNamed(dialect: Dialect, number: number): Query<NamedThings> {
  const { schema } = dialect;
  const rows = yield* all(
    `SELECT run, id, day, form, batch, place FROM ${schema}mail_bookings JOIN ${schema}runs ON number = run
     WHERE mail = ? ORDER BY run, form, batch, place`,
    number,
  );
  const bookings: StoredBooking[] = [];
  for (const { of, places } of groupPlaces(rows))
    for (const booking of yield* readPlaces(dialect, of, places)) bookings.push(booking);
  const pairs = yield* all(
    `SELECT * FROM ${schema}mail_pairs WHERE mail = ? ORDER BY provider_name, provider_hotel_id, service_id`,
    number,
  );
  return {
    bookings,
    pairs: pairs.map(toPair),
  };
}

/** @param rows in the order of their batches */
function groupPlaces(rows: readonly StoredRow[]) {
  const groups: { readonly of: BatchOfRun; readonly places: number[] }[] = [];
  for (const row of rows) {
    const [number, form, batch] = [Number(row.run), String(row.form) as BookingForm, Number(row.batch)];
    const last = groups.at(-1);
    if (last?.of.run.number === number && last.of.form === form && last.of.batch === batch)
      last.places.push(Number(row.place));
    else
      groups.push({
        of: { run: { number, id: String(row.id), day: String(row.day) }, form, batch },
        places: [Number(row.place)],
      });
  }
  return groups;
}

function toPair(row: StoredRow): NamedPair {
  return {
    providerName: String(row.provider_name),
    providerHotelId: String(row.provider_hotel_id),
    serviceId: Number(row.service_id),
  };
}

export function* listNamedPlaces(dialect: Dialect, runId: string): Query<NamedPlace[]> {
  const rows = yield* all(
    `SELECT DISTINCT form, batch, place FROM ${dialect.schema}mail_bookings WHERE run = ?`,
    yield* runNumber(dialect, runId),
  );
  return rows.map(({ form, batch, place }) => ({
    form: String(form) as BookingForm,
    batch: Number(batch),
    place: Number(place),
  }));
}

export function* listNamedPairs({ schema }: Dialect): Query<ReceivedPair[]> {
  const rows = yield* all(
    `SELECT mail_pairs.*, received_at FROM ${schema}mail_pairs AS mail_pairs JOIN ${schema}verdict_mails ON number = mail`,
  );
  return rows.map((row) => ({ ...toPair(row), receivedAt: Number(row.received_at) }));
}
