import { bookingFields } from '../../booking/booking.js';
import { readStoredBatches } from '../../ledger/batches.js';
import type { Reject } from '../../ledger/collecting.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { type BookingForm, bookingForms } from '../../ledger/step.js';
import { createWholePattern } from '../../text/whole-text.js';
import { listEveryRun } from '../every-run.js';
import { foldReference } from '../file/match-result.js';
import { readCellText } from '../file/result.js';
import { foldName } from '../hash-key.js';
import { readBooking, readReference } from '../stored/stored-line.js';
import { decodeText, type FileRecord } from './file-records.js';

/** What the ledger says about the guest of a booking: lines and rows are recognised by it. */
export interface Guest {
  readonly reference: string;
  /** As written in their bookings. */
  readonly names: ReadonlySet<string>;
  /** The runs in whose bookings they are. */
  readonly runIds: ReadonlySet<string>;
  /** Records that could not be sent. */
  readonly rejects: readonly GuestReject[];
}

/** A rejected record with the guest's reference. Where columns are mixed up, its value may be the name. */
export type GuestReject = Reject & { readonly run: Run };

export async function findGuest(ledger: ReadOnlyLedger, reference: string): Promise<Guest> {
  const names = new Set<string>();
  const runIds = new Set<string>();
  const rejects: GuestReject[] = [];
  // The same booking may be in several runs, with its name corrected.
  for (const trace of await ledger.bookings.trace(reference)) {
    if (trace.kind === 'reject') {
      rejects.push({ ...trace, reference });
      continue;
    }
    const { bookingClientName } = readBooking(trace.line, trace.form);
    if (bookingClientName !== undefined) names.add(bookingClientName);
    runIds.add(trace.run.id);
  }
  return { reference, names, runIds, rejects };
}

/** The bookings of everybody with a name. */
export interface NamedBookings {
  readonly references: ReadonlySet<string>;
  /** How many more have no reference. */
  readonly unreferenced: number;
}

/** Reads every stored booking and reject: names are in no index. */
export async function findBookingsOf(
  ledger: ReadOnlyLedger,
  name: string,
  signal: AbortSignal,
): Promise<NamedBookings> {
  const references = new Set<string>();
  let unreferenced = 0;
  for (const run of await listEveryRun(ledger)) {
    for await (const reference of readReferencesOf(ledger, run, name, signal))
      if (reference === undefined) unreferenced += 1;
      else references.add(reference);
    for (const { reference, value } of await ledger.rejects.list(run.id, Number.MAX_SAFE_INTEGER))
      if (reference !== undefined && (isSameName(value ?? '', name) || isSameName(reference, name)))
        references.add(reference);
  }
  return { references, unreferenced };
}

async function* readReferencesOf(
  ledger: ReadOnlyLedger,
  run: Run,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string | undefined, void, undefined> {
  // Quotes and backslashes are escaped where they are stored.
  const needle = /["\\]/.test(name) ? '' : foldName(name);
  const mayHold = (text: string) => foldName(text).includes(needle);
  for (const form of bookingForms) {
    for await (const { lines } of readStoredBatches(ledger, run, form)) {
      signal.throwIfAborted();
      const text = lines.toString();
      if (!mayHold(text)) continue;
      for (const line of text.split('\n')) {
        if (line === '' || !mayHold(line)) continue;
        const { bookingReferenceId, bookingClientName } = readBooking(line, form);
        if (isSameName(bookingClientName ?? '', name)) yield bookingReferenceId;
      }
    }
  }
}

/** Whether a stored line is about the guest. */
export function isLineOf({ reference }: Guest, line: string, form: BookingForm): boolean {
  return readReference(line, form) === reference;
}

function isSameName(one: string, other: string): boolean {
  return foldName(one) === foldName(other);
}

/** Where a file of ours or a result has its columns; -1 for a missing one. */
export interface GuestColumns {
  readonly reference: number;
  readonly name: number;
  readonly dates: readonly number[];
  readonly header: readonly string[];
}

/** Of what stands above the header. */
const noColumns: GuestColumns = { reference: -1, name: -1, dates: [], header: [] };

/** The columns of a file, once its header was among its records. */
export function createGuestColumns(): (record: FileRecord) => GuestColumns {
  let columns: GuestColumns | undefined;
  return (record) => {
    if (!columns && record.line <= record.form.titleLines) return noColumns;
    columns ??= findGuestColumns(record);
    return columns;
  };
}

export function findGuestColumns({ cells = [] }: Pick<FileRecord, 'cells'>): GuestColumns {
  const header = cells.map((cell) => cell.trim());
  const places = header.map((cell) => cell.toLowerCase());
  const placesOf = (isSought: (field: (typeof bookingFields)[number]) => boolean) =>
    bookingFields.filter(isSought).map(({ name }) => places.indexOf(name.toLowerCase()));
  const [reference = -1] = placesOf(({ property }) => property === 'bookingReferenceId');
  const [name = -1] = placesOf(({ kind }) => kind === 'guest-name');
  return { reference, name, dates: placesOf(({ kind }) => kind === 'date'), header };
}

/**
 * Whether a record of a file is about the guest. A reference counts in its column only: a hotel's id may look the same.
 * Where columns cannot be told apart it counts in every cell. A malformed record counts if it mentions a reference or a
 * name, but not as a part of a longer value.
 */
export function isRecordOf({ reference, names }: Guest, record: FileRecord, columns: GuestColumns): boolean {
  const { cells } = record;
  if (!cells || isUncut(record, columns)) return mentions(record, [reference, ...names]);
  const isRegular = columns.reference !== -1 && cells.length === columns.header.length;
  const sought = isRegular ? [cells[columns.reference] ?? ''] : cells;
  if (sought.some((cell) => cell.trim() === reference || readCellText(cell) === reference)) return true;
  // Results may write it in another way, which may be another guest's reference: the name decides.
  const folded = foldReference(reference);
  return sought.some((cell) => foldReference(cell) === folded) && mentions(record, [...names]);
}

/**
 * A text without which a file holds nothing about the guest, however it spells the reference; as a CSV cell writes it. Empty,
 * which every file holds, for a reference whose letter case its bytes do not show.
 */
export function needleOf({ reference }: Guest): string {
  return /^[ -~]*$/.test(reference) ? foldReference(reference).replaceAll('"', '""') : '';
}

/** Whether a record is one cell because nobody knows what separates its cells. */
export function isUncut({ cells }: FileRecord, { reference }: GuestColumns): boolean {
  return cells?.length === 1 && reference === -1;
}

function mentions({ raw, form }: FileRecord, texts: readonly string[]): boolean {
  const whole = decodeText(raw, form);
  return texts.some((text) => whole.includes(text) && createWholePattern(text).test(whole));
}
