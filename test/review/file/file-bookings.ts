import fc from 'fast-check';
import { type Booking, bookingFields, type FieldKind } from '../../../src/booking/booking.js';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { listFileObstacles } from '../../../src/booking/sending.js';
import { renderReviewHeader } from '../../../src/booking/stored-line.js';
import {
  type JoinRules,
  type JoinSources,
  type Judgement,
  startJoin,
} from '../../../src/review/file/join-result.js';
import {
  defaultResultColumn,
  defaultResultValues,
  type ResultReading,
  type ResultRow,
  readResult,
} from '../../../src/review/file/result.js';
import { createVerdictState } from '../../../src/review/file/verdict-state.js';
import type { JudgedRows } from '../../../src/rules/review-file.js';
import { anyText } from '../../booking/raw-bookings.js';
import { lineOfBooking } from '../../support/made-bookings.js';

export const masterIdColumn = 'Service Mappings Id';

/** The usual settings. */
export const rules: JoinRules = {
  masterIdColumn,
  resultColumn: defaultResultColumn,
  resultValues: defaultResultValues,
  resultNames: 'all',
  hasErased: false,
  onRows: () => {},
};

const normalise = createNormaliser();

/** Texts that CSV, spreadsheets or null detection treat specially. */
const anyTroublesome = fc
  .array(
    fc.constantFrom(
      ...['"', '""', ',', ';', '=1+1', '+', '-', '@', "'", '\\', '\t', '\r\n', '\n', '0', '007', ' '],
      ...['Ana', 'Žižek', '山田', '😀', 'null', 'None', '\ufeff', '\xa0', '\u3000', '\u2028', '\u200b'],
      // Where UTF-8 takes one more byte, and half a character.
      ...['\u007f', '\u0080', '\u07ff', '\u0800', '\uffff', '\ud83d'],
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(''));
const anyField = fc.oneof({ weight: 3, arbitrary: anyTroublesome }, { weight: 1, arbitrary: anyText });
const anyDate = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const anyValues: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  id: fc.oneof(fc.integer({ min: 1 }), fc.maxSafeInteger().map(Math.abs)),
  code: anyField,
  text: anyField,
  'guest-name': anyField,
  date: anyDate,
};

/** Bookings that can be in the review file, whatever their source contained. */
export const anyFileBooking: fc.Arbitrary<Booking> = fc
  .record(Object.fromEntries(bookingFields.map(({ name, kind }) => [name, anyValues[kind]])))
  .map((raw) => normalise(raw))
  .filter((normalised) => normalised.kind === 'booking')
  .map(({ booking }) => booking)
  .filter((booking) => listFileObstacles(booking, { names: 'send' }).length === 0);

/** A booking of which a test states only the fields that matter. */
export function fileBooking(fields: Partial<Booking> = {}): Booking {
  return {
    serviceId: 100200,
    bookingReferenceId: 'BR-1042',
    bookingClientName: 'Ana Example',
    providerName: 'hotelbeds',
    providerHotelId: '00123',
    checkInDate: '2026-11-20',
    checkOutDate: '2026-11-23',
    ...fields,
  };
}

/** The cells of its line. */
export function cellsOf(booking: Booking): string[] {
  const { serviceId, checkInDate, checkOutDate } = booking;
  const { bookingReferenceId, bookingClientName, providerName, providerHotelId } = booking;
  const texts = [bookingReferenceId, bookingClientName, providerName, providerHotelId].map(String);
  return [String(serviceId), ...texts, ...[checkInDate, checkOutDate].map(turnDate)];
}

function turnDate(date = ''): string {
  return date.split('-').reverse().join('');
}

/** Stored lines, each with its line end. */
export function linesOf(bookings: readonly Booking[]): Buffer {
  return Buffer.from(bookings.map((booking) => `${lineOfBooking(booking)}\n`).join(''));
}

export function fileOf(bookings: readonly Booking[]): Buffer {
  return Buffer.concat([Buffer.from(`${renderReviewHeader(masterIdColumn)}\n`), linesOf(bookings)]);
}

/** The bytes in blocks of `blockBytes`, always in the same buffer, like a careless reader's. */
export async function* inBlocks(bytes: Buffer, blockBytes = 64 * 1024): AsyncGenerator<Uint8Array> {
  const block = Buffer.alloc(blockBytes);
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const copied = bytes.copy(block, 0, at);
    yield block.subarray(0, copied);
    block.fill('#');
  }
}

/** Joins a result that is there already. */
export async function joinResult(sources: JoinSources, settings: Partial<JoinRules> = {}) {
  const join = startJoin(sources, { ...rules, ...settings });
  for await (const block of sources.readBytes()) await join.take(block);
  const judgement = await join.end();
  return { ...judgement.totals, judged: await listJudged(judgement) };
}

/** The bookings that a result does not call correct, as they are recorded. */
export async function listJudged(judgement: Judgement): Promise<JudgedRows[]> {
  const state = createVerdictState({ verdicts: [], sources: [] }, true);
  if (!judgement.isAllCorrect) await state.add(judgement.say(), { name: 'result.csv' });
  return state.end().verdicts.map(({ sources: _, ...of }) => of);
}

/** A result and its rows. */
export async function readRows(bytes: AsyncIterable<Uint8Array>, reading: ResultReading = rules) {
  const rows: ResultRow[] = [];
  const table = await readResult(bytes, reading, (some) => {
    rows.push(...some);
  });
  return { ...table, rows };
}
