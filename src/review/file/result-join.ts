import type { StoredBatch } from '../../ledger/batches.js';
import type { Judged, JudgedPlaces } from '../../ledger/findings.js';
import {
  type Counters,
  createCounters,
  createHashes,
  createKeyHasher,
  createKeyTable,
  type KeyTable,
} from './key-table.js';
import {
  type ResultEnd,
  type ResultField,
  type ResultForm,
  type ResultPart,
  type ResultReading,
  type ResultRow,
  readResult,
} from './result.js';
import { createEchoReader } from './result-echo.js';
import {
  indexResult,
  mappingFields,
  type ResultIndex,
  sayVerdict,
  withCorrect,
  withoutCorrect,
} from './result-index.js';
import { createSentNameReader, forEachLine, readSentText } from './sent-names.js';

export interface JoinSources {
  /** The bookings that were sent, from the start on each call. A batch is valid until the next one is read. */
  readonly readSent: () => AsyncIterable<StoredBatch>;
  /** The result's bytes, from the start, once all of them have arrived. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
}

/** Joins a result while it arrives. */
export interface ResultJoin {
  /** Takes the next bytes, which belong to the caller. */
  take(block: Uint8Array): Promise<void>;
  /** Call this after the last bytes. */
  end(): Promise<JoinedResult>;
}

/**
 * How a result relates to the bookings that were sent, in numbers. Rows belong to the result, bookings are ours.
 */
export interface ResultTotals {
  /** The fields that the result has columns for. */
  readonly fields: readonly ResultField[];
  /** The names of all its columns. */
  readonly columns: readonly string[];
  /** Undefined for an empty result. */
  readonly form: ResultForm | undefined;
  readonly end: ResultEnd;
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows for bookings that were not sent. */
  readonly foreign: number;
  /** Rows that match by booking reference only: they name another hotel or provider than was sent. */
  readonly loose: number;
  /** Rows that identify no booking; all rows if no column identifies bookings. */
  readonly unidentified: number;
  /** Those of them that are lines of totals, or repeat the header. The numbers below don't count them. */
  readonly summaries: number;
  /** Rows that call a mapping incorrect. */
  readonly incorrect: number;
  /** Rows without a readable verdict. */
  readonly unreadable: number;
}

/** The indexes of the bookings among stored lines whose mapping the result does not call correct. */
export type PlacesByVerdict = Readonly<Record<Judged, readonly number[]>>;

/** What a result says, independent of how it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** Judges the bookings of stored lines. */
  judge(lines: Buffer): PlacesByVerdict;
}

export interface JoinedResult extends ResultTotals {
  /**
   * The bookings of each batch whose mapping the result does not call correct. Reads the sent bookings once more, unless
   * there are none.
   */
  findJudged(): AsyncGenerator<JudgedPlaces, void, undefined>;
}

/**
 * Joins a result with the bookings that were sent, in any order.
 *
 * A verdict is about a mapping, so a row belongs to all bookings with the same reference, master id, provider and
 * hotel id, as far as the result has these columns. A row with a known reference but other ids belongs to the
 * bookings of that reference without an exact match, or to all of them if each has one. It says "correct" only about those
 * with its master id: about the others it says nothing readable. If a booking has several verdicts, "incorrect" wins over
 * "correct", and both win over an unreadable one. A reference that was not sent is compared once more, without what
 * programs change on the way (see foldReference); it counts if that leaves exactly one booking's reference.
 *
 * A result that repeats the file row by row is read while it arrives, with memory for incorrect rows only. Any other is
 * read from the start once it is there and takes about 70 bytes per row; no text is kept. Errors of either input are
 * rethrown.
 */
export function startJoin({ readBytes, readSent }: JoinSources, reading: ResultReading): ResultJoin {
  const echo = createEchoReader(readSent, reading);
  return {
    take: (block) => echo.take(block),
    async end() {
      const { totals, judge } =
        (await echo.end()) ?? (await compareResult(() => readResult(readBytes(), reading), readSent));
      return {
        ...totals,
        async *findJudged() {
          const { incorrect, unreadable, unanswered, loose } = totals;
          if (incorrect + unreadable + unanswered + loose === 0) return;
          for await (const { batch, lines } of readSent()) {
            const found = judge(lines);
            for (const judged of judgements)
              if (found[judged].length > 0) yield { batch, judged, places: found[judged] };
          }
        },
      };
    },
  };
}

const judgements = ['incorrect', 'not-in-result', 'unclear'] as const satisfies readonly Judged[];

/**
 * Compares a result of any form and order with the bookings that were sent, by the rules of startJoin. Reads the
 * sent bookings once more if rows have no exact match, and both once more if rows have unknown references.
 *
 * @param readParts reads the result, from the start on each call
 */
export async function compareResult(
  readParts: () => AsyncIterable<ResultPart>,
  readSent: JoinSources['readSent'],
): Promise<Judgement> {
  const result = await indexResult(readParts());
  const { fields, columns, form, end, key, unidentified, summaries, incorrect, unreadable } = result;
  const readName = createSentNameReader(key);
  let sent = 0;
  let fitted = 0;
  /** By key: 1 if such a booking was sent. */
  const isSent = createCounters();
  for await (const { lines } of readSent())
    forEachLine(lines, (start) => {
      sent += 1;
      const number = result.keys.find(readName(lines, start));
      if (number === undefined) return;
      fitted += 1;
      isSent.set(number, 1);
    });

  const loosely = await matchLooseRows(result, isSent, { readParts, readSent });
  return {
    totals: {
      fields,
      columns,
      form,
      end,
      sent,
      unanswered: sent - fitted - loosely.answered,
      foreign: loosely.foreign,
      loose: loosely.loose,
      unidentified,
      summaries,
      incorrect,
      unreadable,
    },
    judge(lines) {
      const places: Record<Judged, number[]> = { incorrect: [], 'not-in-result': [], unclear: [] };
      forEachLine(lines, (start, place) => {
        const number = result.keys.find(readName(lines, start));
        const own = number === undefined ? 0 : result.verdictsOfKey.get(number);
        const loose = loosely.verdictsOf(lines, start, { isFitted: number !== undefined });
        const verdict = sayVerdict(own | loose);
        if (verdict !== 'correct') places[verdict].push(place);
      });
      return places;
    },
  };
}

interface Readings extends Pick<JoinSources, 'readSent'> {
  readonly readParts: () => AsyncIterable<ResultPart>;
}

/** The rows without an exact match. */
interface LooseRows {
  /** Rows that match a booking by its reference. */
  readonly loose: number;
  /** The others. */
  readonly foreign: number;
  /** Bookings without an exact match that a row matches by reference. */
  readonly answered: number;
  /** The combined verdicts of such rows about the booking in the stored line at `start`; 0 for none. */
  verdictsOf(lines: Buffer, start: number, booking: { readonly isFitted: boolean }): number;
}

/**
 * Finds the bookings of rows without an exact match, by the rules of startJoin.
 *
 * @param isSent by key: 1 if a booking matches
 */
async function matchLooseRows(
  result: ResultIndex,
  isSent: Counters,
  { readParts, readSent }: Readings,
): Promise<LooseRows> {
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  const readMapping = createSentNameReader(mappingFields);
  /** The references of rows without an exact match. */
  const references = createKeyTable();
  /** By reference: bookings sent, and those of them without an exact match. */
  const sentOf = createCounters();
  const unfittedOf = createCounters();
  /** By reference: the verdicts of its rows. */
  const verdictsOf = createCounters();
  /** The master ids that rows call correct, with their reference. */
  const correctMappings = createKeyTable();

  const unfittedKeys = function* () {
    for (let key = 0; key < result.keys.size; key += 1) if (isSent.get(key) === 0) yield key;
  };

  for (const key of unfittedKeys()) {
    const hash = result.referenceOf(key);
    if (hash) references.findOrAdd(hash);
  }
  if (references.size > 0)
    for await (const { lines } of readSent())
      forEachLine(lines, (start) => {
        const reference = references.find(readReference(lines, start));
        if (reference === undefined) return;
        sentOf.set(reference, sentOf.get(reference) + 1);
        if (result.keys.find(readName(lines, start)) === undefined)
          unfittedOf.set(reference, unfittedOf.get(reference) + 1);
      });

  const respelled = await matchRespelled(result, { references, sentOf, unfittedOf }, { readParts, readSent });

  let loose = 0;
  let foreign = 0;
  for (const key of unfittedKeys()) {
    const rows = result.rowsOfKey.get(key);
    const hash = result.referenceOf(key);
    const written = hash && references.find(hash);
    const reference = written === undefined ? undefined : respelled.findSent(written);
    if (reference !== undefined && sentOf.get(reference) > 0) {
      const verdicts = result.verdictsOfKey.get(key);
      const mapping = result.mappingOf(key);
      const general = mapping ? withoutCorrect(verdicts) : verdicts;
      if (mapping && general !== verdicts) correctMappings.findOrAdd(mapping);
      loose += rows;
      verdictsOf.set(reference, verdictsOf.get(reference) | general);
    } else foreign += rows;
  }
  let answered = 0;
  for (let reference = 0; reference < references.size; reference += 1)
    if (verdictsOf.get(reference) !== 0) answered += unfittedOf.get(reference);

  return {
    loose,
    foreign,
    answered,
    verdictsOf(lines, start, { isFitted }) {
      if (loose === 0) return 0;
      const reference = references.find(readReference(lines, start));
      if (reference === undefined) return 0;
      if (isFitted && unfittedOf.get(reference) > 0) return 0;
      const verdicts = verdictsOf.get(reference);
      const isCorrect =
        correctMappings.find(readMapping(lines, start)) !== undefined ||
        respelled.callsCorrect(reference, lines, start);
      return isCorrect ? withCorrect(verdicts) : verdicts;
    },
  };
}

interface References {
  /** Those of rows without an exact match; the references that are found to be meant are added. */
  readonly references: KeyTable;
  /** By reference: bookings sent, and those of them without an exact match. */
  readonly sentOf: Counters;
  readonly unfittedOf: Counters;
}

/** References in rows that were not sent as they are written there. */
interface RespelledReferences {
  /** The reference that is meant; the same one if it was sent, or if no other is. */
  findSent(reference: number): number;
  /** Whether a row with another spelling of the reference calls the mapping of the stored line at `start` correct. */
  callsCorrect(reference: number, lines: Buffer, start: number): boolean;
}

/** Compares the references that were not sent with those that were once more, folded. Reads both only if there are any. */
async function matchRespelled(
  result: ResultIndex,
  { references, sentOf, unfittedOf }: References,
  { readParts, readSent }: Readings,
): Promise<RespelledReferences> {
  const hasher = createKeyHasher();
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  const folded = createKeyTable();
  /** By reference: one more than the number of its folded form. */
  const foldedOf = createCounters();
  /** The master ids that rows call correct, with their folded reference. */
  const correctMappings = createKeyTable();
  const written = references.size;
  let strays = 0;
  for (let reference = 0; reference < written; reference += 1) if (sentOf.get(reference) === 0) strays += 1;

  const fold = (row: ResultRow) => {
    const { bookingReferenceId: text, serviceId, isCorrect } = row;
    const reference = text === undefined ? undefined : references.find(hasher.hash(text));
    if (text === undefined || reference === undefined || sentOf.get(reference) > 0) return;
    const form = foldReference(text);
    if (form === '') return;
    foldedOf.set(reference, 1 + folded.findOrAdd(hasher.hash(form)));
    if (isCorrect && serviceId !== undefined) correctMappings.findOrAdd(hasher.hash(String(serviceId), form));
  };
  if (strays > 0) for await (const part of readParts()) if (part.kind === 'rows') part.rows.forEach(fold);

  /** By folded form: the reference that was sent, whether there is another one, and the bookings. */
  const sentAs = createHashes();
  const isAmbiguous = createCounters();
  const bookings = createCounters();
  const unfitted = createCounters();
  const match = (lines: Buffer, start: number) => {
    const text = readSentText(lines, start, 'bookingReferenceId');
    const form = folded.find(hasher.hash(foldReference(text)));
    if (form === undefined) return;
    const reference = readReference(lines, start);
    const known = sentAs.get(form);
    if (!known) sentAs.set(form, reference);
    else if (known.high !== reference.high || known.low !== reference.low) isAmbiguous.set(form, 1);
    bookings.set(form, bookings.get(form) + 1);
    if (result.keys.find(readName(lines, start)) === undefined) unfitted.set(form, unfitted.get(form) + 1);
  };
  if (folded.size > 0)
    for await (const { lines } of readSent()) forEachLine(lines, (start) => match(lines, start));

  /** By reference: one more than the number of the one that is meant; and whether it is meant by others. */
  const meantBy = createCounters();
  const isMeant = createCounters();
  for (let reference = 0; reference < written; reference += 1) {
    const form = foldedOf.get(reference) - 1;
    const sent = form === -1 || isAmbiguous.get(form) === 1 ? undefined : sentAs.get(form);
    if (!sent) continue;
    const meant = references.findOrAdd(sent);
    sentOf.set(meant, bookings.get(form));
    unfittedOf.set(meant, unfitted.get(form));
    meantBy.set(reference, 1 + meant);
    isMeant.set(meant, 1);
  }

  return {
    findSent: (reference) => (meantBy.get(reference) || 1 + reference) - 1,
    callsCorrect(reference, lines, start) {
      if (isMeant.get(reference) === 0) return false;
      const form = foldReference(readSentText(lines, start, 'bookingReferenceId'));
      const mapping = hasher.hash(readSentText(lines, start, 'serviceId'), form);
      return correctMappings.find(mapping) !== undefined;
    },
  };
}

const padding = /[\s\p{Cc}\p{Cf}'"\u2019=]/u;

/**
 * A reference without what spreadsheets and databases change on the way: letter case, padding (white space, leading
 * zeros), and the quotes, apostrophes and formulas that keep an id a text.
 */
export function foldReference(reference: string): string {
  let start = 0;
  let end = reference.length;
  while (start < end && padding.test(reference.charAt(start))) start += 1;
  while (end > start && padding.test(reference.charAt(end - 1))) end -= 1;
  while (start < end - 1 && reference[start] === '0') start += 1;
  return reference.slice(start, end).toLowerCase();
}
