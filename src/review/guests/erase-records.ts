import { createHash } from 'node:crypto';
import { bookingFields, findHotelHash, guestNameFields } from '../../booking/booking.js';
import { splitStoredLines } from '../../ledger/batches.js';
import type { ErasedContent, EraseLines } from '../../ledger/erasing.js';
import { createWholePattern } from '../../text/foreign-text.js';
import { lineForms, readBooking } from '../stored/stored-line.js';
import { encodeText, type FileRecord, lineEndOf, readRecords } from './file-records.js';
import { type Guest, isLineOf, isRecordOf, isUncut } from './guest.js';

/** What is erased of a guest. */
export interface Erasure {
  readonly guest: Guest;
  /** Reference and stay too, not only the name. */
  readonly all: boolean;
  readonly at: number;
}

const serviceFieldNames = new Set(bookingFields.map(({ name }) => name.toLowerCase()));
const allErased: ReadonlySet<string> = new Set(
  bookingFields.flatMap(({ name, kind, property }) =>
    kind === 'guest-name' || kind === 'date' || property === 'bookingReferenceId' ? [name] : [],
  ),
);

/** The fields that are erased, under the service's names. */
const erasedFields = ({ all }: Erasure) => (all ? allErased : guestNameFields);

/** Rewrites stored bookings. */
export function createLineEraser(erasure: Erasure): EraseLines {
  const { guest, all, at } = erasure;
  const erased = erasedFields(erasure);
  return (lines, { form, batch }) => {
    const kept = splitStoredLines(lines);
    const places = kept.flatMap((line, place) => (isLineOf(guest, line, form) ? [place] : []));
    if (places.length === 0) return undefined;
    const theirs = new Set(places);
    const rewritten = kept.map((line, place) =>
      theirs.has(place) ? lineForms[form].blankFields(line, erased) : line,
    );
    const changed = kept.flatMap((line, place) => (line === rewritten[place] ? [] : [{ line, place }]));
    if (changed.length === 0) return { places };
    const after = Buffer.from(rewritten.map((line) => `${line}\n`).join(''));
    const name = `${form} batch ${batch}`;
    const content: ErasedContent = { place: 'ledger', name, before: hash(lines), after: hash(after), at };
    const stays = changed.map(({ line, place }) => ({
      place,
      hotelHash: findHotelHash(readBooking(line, form)),
    }));
    return { places, changed: { lines: after, content, ...(all && { stays }) } };
  };
}

/** A file without the guest; everything else stays byte for byte. */
export async function* eraseRecords(
  blocks: AsyncIterable<Uint8Array>,
  erasure: Erasure,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const records of readRecords(blocks))
    yield Buffer.concat(
      records.map((record) =>
        isRecordOf(erasure.guest, record) ? eraseRecord(record, erasure) : record.raw,
      ),
    );
}

/** Nothing can be told apart in a malformed record, so nothing of it stays. */
function eraseRecord(record: FileRecord, erasure: Erasure): Buffer {
  const { cells, raw, form, columns } = record;
  if (!cells || isUncut(record)) return encodeText(lineEndOf(record), form);
  const erased = new Set([...erasedFields(erasure)].map((name) => name.toLowerCase()));
  const kept = cells.map((cell, at) => {
    const column = columns.names[at]?.toLowerCase() ?? '';
    if (erased.has(column)) return '';
    return serviceFieldNames.has(column) ? cell : eraseText(cell, erasure);
  });
  if (kept.every((cell, at) => cell === cells[at])) return raw;
  const { delimiter } = form;
  const text = kept.map((cell) => quoteCell(cell, delimiter)).join(delimiter);
  return encodeText(`${text}${lineEndOf(record)}`, form);
}

/** The service's own columns may repeat the name, or say something about the reference. */
function eraseText(cell: string, { guest: { names, reference }, all }: Erasure): string {
  const texts = [...names, ...(all ? [reference] : [])];
  return texts.reduce((text, erased) => text.replace(createWholePattern(erased), ''), cell);
}

function quoteCell(cell: string, delimiter: string): string {
  return /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
