import { createWholePattern } from '../../base/foreign-text.js';
import { mayHold } from '../../booking/record-cells.js';
import { batchStreams } from '../../booking/sending.js';
import { readBooking } from '../../booking/stored-line.js';
import { readBatchesWithKey, readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isHeld, type Reject } from '../../ledger/rejects.js';
import { type RunKey, readInSlices } from '../../ledger/runs.js';
import type { Trace } from '../../ledger/tracing.js';
import type { Run } from '../../rules/run.js';
import { type Archive, ArchiveError } from '../../storage/archive.js';
import type { Spool } from '../../storage/spool.js';
import { readEveryRun } from '../every-run.js';
import { listArchived } from '../file/archive-run.js';
import { listSpooled } from '../file/file-attempt.js';
import { foldReference } from '../file/join-result.js';
import { readCellText } from '../file/result.js';
import { readReference } from '../stored/stored-line.js';
import { contains, type FileRecord, readRecords } from './file-records.js';
import { createNameTest } from './name-test.js';

/** Lines and rows are recognised by these. */
interface NamedGuest {
  readonly reference: string;
  /** As written in their bookings. */
  readonly names: ReadonlySet<string>;
}

/** What the ledger says about the guest of a booking. */
export interface Guest extends NamedGuest {
  /** See `readGuestTraces`. */
  readonly traces: readonly Trace[];
}

export async function findGuest(ledger: ReadOnlyLedger, reference: string): Promise<Guest> {
  const traces: Trace[] = [];
  const { names } = await findNames(ledger, reference, (trace) => traces.push(trace));
  return { reference, names, traces };
}

/** How the guest is called in their bookings. @param note told of each trace */
export async function findNames(
  ledger: ReadOnlyLedger,
  reference: string,
  note: (trace: Trace) => void,
): Promise<NamedGuest> {
  const names = new Set<string>();
  for await (const traces of readGuestTraces(ledger, reference))
    for (const trace of traces) {
      note(trace);
      // The same booking may be in several runs, with its name corrected.
      const name = trace.kind === 'booking' && readBooking(trace.line).bookingClientName;
      if (name) names.add(name);
    }
  return { reference, names };
}

/**
 * Their bookings, and the rejected records with their reference, by run, the newest first; then what no index knows: the bookings of
 * runs whose collect did not end, and the rejected records that held the reference in another cell, because cells were shifted.
 */
export async function* readGuestTraces(
  ledger: ReadOnlyLedger,
  reference: string,
): AsyncGenerator<readonly Trace[], void, undefined> {
  const known = new Set<string>();
  for await (const traces of ledger.bookings.readTraces(reference)) {
    for (const trace of traces) known.add(keyOfTrace(trace));
    yield traces;
  }
  for await (const trace of readUncollected(ledger, reference))
    if (!known.has(keyOfTrace(trace))) yield [trace];
  for await (const { run, reject } of readRejects(ledger)) {
    const trace = { kind: 'reject', run, ...reject } as const;
    if (isRejectOf(reference, reject) && !known.has(keyOfTrace(trace))) yield [trace];
  }
}

function keyOfTrace(trace: Trace): string {
  const place = trace.kind === 'reject' ? trace.place : `${trace.stream} ${trace.position}`;
  return `${trace.run.id} ${place}`;
}

/** What collects that failed or died have stored of the guest: nothing of it was sent. */
async function* readUncollected(
  ledger: ReadOnlyLedger,
  reference: string,
): AsyncGenerator<Trace, void, undefined> {
  for (const stored of await ledger.stays.listUncollected())
    for (const stream of batchStreams)
      for await (const { batch, lines } of readBatchesWithKey(ledger, stored, stream))
        for (const [row, line] of splitStoredLines(lines).entries()) {
          if (readReference(line) !== reference) continue;
          const run = await ledger.runs.get(stored.runId);
          const position = batch * stored.batchSize + row;
          yield { kind: 'booking', run, stream, batch, position, line, attempts: [] };
        }
}

function isRejectOf(reference: string, reject: Reject): boolean {
  return reject.reference === reference || mayHold(reject.cells ?? '', reference);
}

/** The rejected records of which a value is kept. */
async function* readRejects(
  ledger: ReadOnlyLedger,
): AsyncGenerator<{ readonly run: Run; readonly reject: Reject }, void, undefined> {
  for await (const run of readEveryRun(ledger))
    for (const reject of run.counts.rejected > 0 ? await ledger.rejects.listHeld(run.id) : [])
      yield { run, reject };
}

/**
 * The rejected records that may hold the guest's name, whether or not they held the reference: where cells are shifted, a row may have lost
 * it. Another guest may have the same name.
 *
 * @param erasure.all those, too, of which nothing but the hash of the reference is kept
 */
export async function findRejectsToErase(
  ledger: ReadOnlyLedger,
  { guest: { reference, names, traces }, all }: { readonly guest: Guest; readonly all: boolean },
) {
  const found: { readonly run: Run; readonly reject: Reject }[] = [];
  for (const trace of all ? traces : [])
    if (trace.kind === 'reject' && !isHeld(trace)) found.push({ run: trace.run, reject: trace });
  const isNamed = createNameTest(names, 'all words');
  for await (const { run, reject } of readRejects(ledger)) {
    const texts = [reject.reference, reject.value].filter((text) => text !== undefined);
    if (texts.some(isNamed) || isRejectOf(reference, reject)) found.push({ run, reject });
  }
  return found;
}

/**
 * The references of everybody with a name, and how many more of their bookings have none. Reads every stored booking and
 * reject: names are in no index.
 */
export async function findBookingsOf(ledger: ReadOnlyLedger, name: string, signal: AbortSignal) {
  const references = new Set<string>();
  let unreferenced = 0;
  for await (const run of readInSlices(ledger.runs.listKeys)) {
    for await (const reference of readReferencesOf(ledger, run, name, signal))
      if (reference === undefined) unreferenced += 1;
      else references.add(reference);
  }
  // Where cells are shifted, nothing tells which of its values is the reference.
  for await (const { reject } of readRejects(ledger))
    if (isSameName(reject.value ?? '', name) || isSameName(reject.reference ?? '', name)) unreferenced += 1;
  return { references, unreferenced };
}

async function* readReferencesOf(
  ledger: ReadOnlyLedger,
  run: RunKey,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string | undefined, void, undefined> {
  // A cell doubles quotes.
  const needle = foldName(name).replaceAll('"', '""');
  const mayHold = (text: string) => foldName(text).includes(needle);
  for (const stream of batchStreams) {
    for await (const { lines } of readStoredBatches(ledger, run, stream)) {
      signal.throwIfAborted();
      const text = lines.toString();
      if (!mayHold(text)) continue;
      for (const line of text.split('\n')) {
        if (line === '' || !mayHold(line)) continue;
        const { bookingReferenceId, bookingClientName } = readBooking(line);
        if (isSameName(bookingClientName ?? '', name)) yield bookingReferenceId;
      }
    }
  }
}

function isSameName(one: string, other: string): boolean {
  return foldName(one) === foldName(other);
}

/** A name as it is compared: differences in case, composed characters and surrounding spaces are removed. */
function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/**
 * Whether a record of a file is about the guest. A reference counts in its column only: a hotel's id may look the same.
 * Where columns cannot be told apart it counts in every cell. A malformed record counts if it mentions a reference or a
 * name, but not as a part of a longer value.
 */
export function isRecordOf({ reference, names }: NamedGuest, record: FileRecord): boolean {
  const { cells, columns } = record;
  // Nobody can say what is in a record that is too long.
  if (!cells && record.text === undefined) return true;
  if (!cells || isUncut(record)) return mentions(record, [reference, ...names]);
  const isRegular = columns.reference !== -1 && cells.length === columns.names.length;
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
function needleOf({ reference }: NamedGuest): string {
  return /^[ -~]*$/.test(reference) ? foldReference(reference).replaceAll('"', '""') : '';
}

/** Whether a record is one cell because nobody knows what separates its cells. */
function isUncut({ cells, columns }: FileRecord): boolean {
  return cells?.length === 1 && columns.reference === -1;
}

function mentions({ cells, text }: FileRecord, sought: readonly string[]): boolean {
  const written = cells ?? [text ?? ''];
  return sought.some((one) => {
    const pattern = createWholePattern(one);
    return written.some((whole) => whole.includes(one) && pattern.test(whole));
  });
}

/** A record about the guest: its cells by column, or its text if it is malformed. */
interface GuestRecord {
  readonly line: number;
  readonly cells?: Readonly<Record<string, string>>;
  readonly text?: string;
}

/** A file of a run that says something about the guest. */
export interface GuestFile {
  readonly place: 'archive' | 'spool';
  readonly name: string;
  readonly records: readonly GuestRecord[];
}

/** The files of a run that say something about the guest, wherever they are. */
export async function findGuestFiles(
  { archive, spool }: { readonly archive: Archive; readonly spool: Spool },
  run: RunKey,
  guest: NamedGuest,
): Promise<readonly GuestFile[]> {
  const found: GuestFile[] = [];
  const look = async (place: GuestFile['place'], name: string, read: () => AsyncIterable<Uint8Array>) => {
    const records = await findRecords(read, guest);
    if (records.length > 0) found.push({ place, name, records });
  };
  const archived = await listArchived(archive, run);
  const spooled = await listSpooled(spool, run.id);
  for (const name of archived) await look('archive', name, () => archive.read(run.day, run.id, name));
  for (const name of spooled) await look('spool', name, () => spool.read(name));
  return found;
}

/** The records about the guest in a file; none if it disappears meanwhile. */
export async function findRecords(
  read: () => AsyncIterable<Uint8Array>,
  guest: NamedGuest,
): Promise<readonly GuestRecord[]> {
  const found: GuestRecord[] = [];
  try {
    if (!(await contains(read(), needleOf(guest)))) return [];
    for await (const records of readRecords(read()))
      for (const record of records) if (isRecordOf(guest, record)) found.push(toGuestRecord(record));
    return found;
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function toGuestRecord(record: FileRecord): GuestRecord {
  const { line, cells, text, columns } = record;
  if (!cells || isUncut(record))
    return { line, text: text ?? cells?.[0] ?? '(a line that is too long to be read)' };
  const named = cells.map((cell, at) => [columns.names[at] || `column ${at + 1}`, cell] as const);
  return { line, cells: Object.fromEntries(named) };
}

/** Another process may archive a run, or remove what it kept, at the same time. */
function isAbsence(error: unknown): boolean {
  if (error instanceof ArchiveError) return error.code === 'absent';
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
