import { bookingFields } from '../../booking/booking.js';
import { createWholePattern } from '../../text/whole-text.js';
import type { Reject } from '../collected.js';
import { listEveryRun } from '../every-run.js';
import { foldName } from '../hash-key.js';
import type { History, RejectLister } from '../history.js';
import type { BatchReader, RunLister } from '../ledger.js';
import type { Run } from '../run.js';
import { type BookingForm, bookingForms } from '../step.js';
import { readBooking } from '../stored/stored-line.js';
import { readStoredBatches } from '../stored-batches.js';
import type { FileRecord } from './file-records.js';

/** Who is looked for: the guest of one booking, or everybody with that name. */
export type GuestQuery = { readonly reference: string } | { readonly name: string };

/** What the ledger says about the guest: lines and rows are recognised by it. */
export interface Guest {
  readonly query: GuestQuery;
  /** Of their bookings. */
  readonly references: ReadonlySet<string>;
  /** As written in their bookings. */
  readonly names: ReadonlySet<string>;
  /** How many of their bookings have no reference. */
  readonly unreferenced: number;
  /** The runs in whose bookings they are. */
  readonly runIds: ReadonlySet<string>;
  /** Records that could not be sent. */
  readonly rejects: readonly GuestReject[];
}

/** A rejected record with the guest's reference or name. Where columns are mixed up, its value may be the name. */
export type GuestReject = Reject & { readonly run: Run };

/** By name, this reads every stored booking and reject: names are in no index. */
export async function findGuest(
  ledger: BatchReader & Pick<History, 'trace'> & RejectLister & RunLister,
  query: GuestQuery,
  signal: AbortSignal,
): Promise<Guest> {
  const references = new Set<string>();
  const names = new Set<string>();
  const runIds = new Set<string>();
  const rejects: GuestReject[] = [];
  let unreferenced = 0;
  const add = (run: Run, line: string, form: BookingForm) => {
    const { bookingReferenceId, bookingClientName } = readBooking(line, form);
    if (bookingReferenceId === undefined) unreferenced += 1;
    else references.add(bookingReferenceId);
    if (bookingClientName !== undefined) names.add(bookingClientName);
    runIds.add(run.id);
  };
  if ('reference' in query) references.add(query.reference);
  else {
    names.add(query.name);
    for (const run of await listEveryRun(ledger)) {
      for await (const { line, form } of readLinesNaming(ledger, run, query, signal)) add(run, line, form);
      for (const reject of await ledger.listRejects(run.id, Number.MAX_SAFE_INTEGER)) {
        const { reference, value } = reject;
        if (!isNamed(value ?? '', query) && !isNamed(reference ?? '', query)) continue;
        if (reference === undefined) rejects.push({ ...reject, run });
        else references.add(reference);
      }
    }
  }
  // The same booking may be in other runs, with its name corrected.
  for (const reference of [...references])
    for (const trace of await ledger.trace(reference))
      if (trace.kind === 'booking') add(trace.run, trace.line, trace.form);
      else rejects.push({ ...trace, reference });
  return { query, references, names, unreferenced, runIds, rejects };
}

interface NamingLine {
  readonly line: string;
  readonly form: BookingForm;
  readonly batch: number;
  /** Among the lines of its batch. */
  readonly place: number;
}

/** The bookings of a run with that name. */
export async function* readLinesNaming(
  ledger: BatchReader,
  run: Run,
  query: NameQuery,
  signal: AbortSignal,
): AsyncGenerator<NamingLine, void, undefined> {
  // Quotes and backslashes are escaped where they are stored.
  const needle = /["\\]/.test(query.name) ? '' : foldName(query.name);
  const mayHold = (text: string) => foldName(text).includes(needle);
  for (const form of bookingForms) {
    for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
      signal.throwIfAborted();
      const text = lines.toString();
      if (!mayHold(text)) continue;
      for (const [place, line] of text.split('\n').entries()) {
        if (line === '' || !mayHold(line)) continue;
        if (isNamed(readBooking(line, form).bookingClientName ?? '', query))
          yield { line, form, batch, place };
      }
    }
  }
}

/** Whether a stored line is about the guest. */
export function isLineOf({ query, references }: Guest, line: string, form: BookingForm): boolean {
  const { bookingReferenceId, bookingClientName } = readBooking(line, form);
  return (
    (bookingReferenceId !== undefined && references.has(bookingReferenceId)) ||
    ('name' in query && bookingClientName !== undefined && isNamed(bookingClientName, query))
  );
}

/** Whether the text is the name that is looked for. */
export function isNameOf({ query }: Guest, text: string): boolean {
  return 'name' in query && isNamed(text, query);
}

type NameQuery = Extract<GuestQuery, { readonly name: string }>;

function isNamed(name: string, query: NameQuery): boolean {
  return foldName(name) === foldName(query.name);
}

/** Where a file of ours or a result has its columns; -1 for a missing one. */
export interface GuestColumns {
  readonly reference: number;
  readonly name: number;
  readonly dates: readonly number[];
  readonly header: readonly string[];
}

export function findGuestColumns({ cells = [] }: FileRecord): GuestColumns {
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
export function isRecordOf(
  { query, references, names }: Guest,
  record: FileRecord,
  columns: GuestColumns,
): boolean {
  const { cells, raw } = record;
  if (!cells) return mentions(raw, [...references, ...names]);
  const isRegular = columns.reference !== -1 && cells.length === columns.header.length;
  const sought = isRegular ? [cells[columns.reference] ?? ''] : cells;
  if (sought.some((cell) => references.has(cell.trim()))) return true;
  return 'name' in query && isNamed(cells[columns.name] ?? '', query);
}

/** Texts without which a file holds nothing about the guest; as a CSV cell writes them. */
export function listNeedles({ query, references, names }: Guest): readonly string[] {
  const texts = [...references, ...('name' in query ? names : [])];
  return texts.map((text) => text.replaceAll('"', '""'));
}

function mentions(raw: Buffer, texts: readonly string[]): boolean {
  return texts.some((text) => raw.includes(text) && createWholePattern(text).test(raw.toString()));
}
