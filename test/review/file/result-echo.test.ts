import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { createEchoReader } from '../../../src/review/file/echo-result.js';
import { compareResult, type JoinSources } from '../../../src/review/file/join-result.js';
import {
  anyFileBooking,
  fileBooking,
  fileOf,
  inBlocks,
  joinResult,
  linesOf,
  listJudged,
  masterIdColumn,
  readRows,
  rules,
} from './file-bookings.js';
import { modelJoin } from './model-join.js';

const usualHeader = `${fileOf([]).toString().trimEnd()},IsCorrectMapping`;
const one = fileBooking({ bookingReferenceId: 'BR-1' });
const two = fileBooking({ bookingReferenceId: 'BR-2', bookingClientName: 'Žižek, "山田"' });
const three = fileBooking({ bookingReferenceId: 'BR-3' });

/** Bookings of which several share a key or a reference. */
const anyBookings = fc.array(anyFileBooking, { minLength: 1, maxLength: 12 }).chain((bookings) =>
  fc.array(
    fc
      .tuple(fc.constantFrom(...bookings), fc.constantFrom(...bookings), fc.constantFrom(0, 0, 0, 1, 2, 3))
      .map(([booking, other, kind]): Booking => {
        if (kind === 0) return booking;
        if (kind === 1) return { ...booking, bookingClientName: 'Somebody Else' };
        if (kind === 2) return { ...booking, serviceId: other.serviceId };
        return { ...other, bookingReferenceId: booking.bookingReferenceId ?? '' };
      }),
    { minLength: 1, maxLength: 20 },
  ),
);
const anyVerdict = fc.constantFrom(
  ...['True', 'True', 'True', 'False', 'False', 'false', 'YES', '0', 'incorrect', 'perhaps', ''],
  ...[' False ', '\ufeffno', 'Fal\rse', 'NULL', 'Žádný', '\t', '1\xa0'],
);
const anyHeader = fc.oneof(
  { weight: 4, arbitrary: fc.constant(usualHeader) },
  fc.constantFrom(
    usualHeader.replace(masterIdColumn, 'ServiceId'),
    usualHeader.replace('IsCorrectMapping', ' is_correct-mapping '),
    usualHeader.replace('IsCorrectMapping', 'Verdict'),
    usualHeader.replace('IsCorrectMapping', '"IsCorrectMapping"'),
    usualHeader.replace('ProviderName,ProviderHotelId', 'ProviderHotelId,ProviderName'),
    `${usualHeader},Comment`,
    `"${usualHeader}`,
    `\n${usualHeader}`,
  ),
);
/** What may happen to a result in transit; three numbers select the place. */
const changes = {
  none: (text: string) => text,
  byteOrderMark: (text: string) => `\ufeff${text}`,
  carriageReturns: (text: string) => text.replaceAll('\n', '\r\n'),
  oneCarriageReturn: (text: string, at: number) => changeLine(text, at, (line) => line.replace('\n', '\r\n')),
  missingRow: (text: string, at: number) => changeLine(text, at, () => ''),
  blankRow: (text: string, at: number) => changeLine(text, at, (line) => `${line}\n`),
  repeatedRow: (text: string, at: number) => changeLine(text, at, (line) => `${line}${line}`),
  swappedRows: (text: string, at: number) =>
    text.replace(/^([^\n]*\n(?:[^\n]*\n)*?)([^\n]*\n)([^\n]*\n)/, (all, before, first, second) =>
      at % 2 === 0 ? all : `${before}${second}${first}`,
    ),
  moreColumns: (text: string, at: number) => changeLine(text, at, (line) => line.replace('\n', ',,\n')),
  noLastLineEnd: (text: string) => text.slice(0, -1),
  cutOff: (text: string, at: number) => text.slice(0, at % (text.length + 1)),
  more: (text: string) => `${text}Total,,,,,,,\n`,
  otherSpelling: (text: string, at: number) =>
    changeLine(text, at, (line) =>
      line.replace(
        /^(\d+),([^,"]+)/,
        (_, id: string, reference: string) => `${id},=""${reference.toUpperCase()}""`,
      ),
    ),
  repeatedHeader: (text: string) => `${text}${text.slice(0, text.indexOf('\n') + 1)}`,
  quotedVerdict: (text: string, at: number) =>
    changeLine(text, at, (line) => line.replace(/,([^,]*)\n/, ',"$1"\n')),
  changedCharacter: (text: string, at: number, by: number) => {
    const place = at % text.length;
    return `${text.slice(0, place)}${'x",\n\r 0'.charAt(by % 7)}${text.slice(place + 1)}`;
  },
};
const anyChange = fc.record({
  name: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('none', 'byteOrderMark', 'carriageReturns') },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])) },
  ),
  at: fc.nat(),
  by: fc.nat(),
});

it('a result that repeats the file, or nearly, is joined like any other', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyBookings,
      fc.infiniteStream(anyVerdict),
      anyHeader,
      anyChange,
      fc.integer({ min: 1, max: 9 }),
      fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 3000 })),
      async (bookings, verdicts, header, { name, at, by }, batchSize, blockBytes) => {
        const echo = writeEcho(bookings, () => verdicts.next().value ?? '', header);
        const result = changes[name](echo, at, by);
        const sources = sourcesOf(bookings, result, { batchSize, blockBytes });
        const { judged, ...totals } = await joinResult(sources);
        const compared = await compareResult(sources, rules);
        const model = await modelJoin(await readRows(sources.readBytes()), bookings, batchSize);
        expect({ totals: compared.totals, judged: await listJudged(compared) }).toEqual(model);
        expect({ totals, judged }).toEqual(model);
      },
    ),
    { numRuns: 400 },
  );
});

describe('an echo', () => {
  it.each([
    ['as the file was sent', usualEcho()],
    ['with CRLF and byte order mark', changes.byteOrderMark(changes.carriageReturns(usualEcho()))],
    ['with another name for the master id', usualEcho().replace(masterIdColumn, 'ServiceId')],
  ])('%s is read without being parsed, in blocks of any size', async (_, result) => {
    for (let blockBytes = 1; blockBytes < result.length; blockBytes += 23) {
      const { readSent, readBytes } = sourcesOf([one, two, three], result, { batchSize: 2, blockBytes });
      const echo = createEchoReader(readSent, rules);
      for await (const block of readBytes()) await echo.take(block);
      expect((await echo.end())?.totals).toMatchObject({ sent: 3, unanswered: 0 });
    }
  });

  it('with a line too long to be kept is joined like any other', async () => {
    const long = fileBooking({ bookingReferenceId: 'BR-2', bookingClientName: 'a'.repeat(1_200_000) });
    const bookings = [one, long, three];
    const result = writeEcho(bookings, () => 'False');
    const joined = await joinResult(sourcesOf(bookings, result, { blockBytes: 65_536 }));
    expect(joined).toMatchObject({ judging: 2, unanswered: 1, end: { rows: 3, malformed: 1 } });
  });
});

function usualEcho(): string {
  return writeEcho([one, two, three], (place) => (place === 1 ? 'False' : 'True'));
}

function writeEcho(
  bookings: readonly Booking[],
  verdictOf: (place: number) => string,
  header = usualHeader,
): string {
  const lines = linesOf(bookings).toString().split('\n').slice(0, -1);
  return [header, ...lines.map((line, place) => `${line},${verdictOf(place)}`), ''].join('\n');
}

/** @param change of a line, with its line end; lines are counted from the end, the last one being 0 */
function changeLine(text: string, at: number, change: (line: string) => string): string {
  const lines = text.split(/(?<=\n)/);
  const place = lines.length - 1 - (at % lines.length);
  return lines.map((line, index) => (index === place ? change(line) : line)).join('');
}

function sourcesOf(
  bookings: readonly Booking[],
  result: string,
  { batchSize = 10, blockBytes = 64 }: { readonly batchSize?: number; readonly blockBytes?: number } = {},
): JoinSources {
  return {
    readBytes: () => inBlocks(Buffer.from(result), blockBytes),
    async *readSent() {
      for (let first = 0; first < bookings.length; first += batchSize)
        yield { batch: first / batchSize, lines: linesOf(bookings.slice(first, first + batchSize)) };
    },
  };
}
