import type { Judged } from '../../ledger/findings.js';
import {
  type Counters,
  createCounters,
  createHashes,
  createKeyHasher,
  createKeyTable,
  type KeyHash,
  type KeyTable,
} from './key-table.js';
import type { ResultEnd, ResultField, ResultForm, ResultPart, ResultRow } from './result.js';
import { type KeyField, keyFields } from './sent-names.js';

/** The provider's name alone identifies nothing. */
export const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** Verdicts of several rows combined, one bit each; 0 for none. */
const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

/**
 * A result's content by key. The key is the booking's reference, master id, provider and hotel id, as far as the
 * result has these columns.
 */
export interface ResultIndex {
  /** The fields that the result has columns for. */
  readonly fields: readonly ResultField[];
  /** The names of all its columns. */
  readonly columns: readonly string[];
  /** Undefined for an empty result. */
  readonly form: ResultForm | undefined;
  readonly end: ResultEnd;
  /** Rows that identify no booking, and those of them that are totals or a repeated header. */
  readonly unidentified: number;
  readonly summaries: number;
  /** The number of rows that say "incorrect", and of rows without a readable verdict, not counting summaries. */
  readonly incorrect: number;
  readonly unreadable: number;
  /** The fields that identify a booking in this result; empty if there are none. */
  readonly key: readonly KeyField[];
  readonly keys: KeyTable;
  readonly rowsOfKey: Counters;
  readonly verdictsOfKey: Counters;
  /** The reference in the rows of a key. */
  referenceOf(key: number): KeyHash | undefined;
  /** The master id and the reference in the rows of a key; undefined if one is missing. */
  mappingOf(key: number): KeyHash | undefined;
}

/** The fields of `mappingOf`, in the order of the review file's columns. */
export const mappingFields = ['serviceId', 'bookingReferenceId'] as const;

/** Reads a result to its end and indexes it without keeping its texts: about 50 bytes per row. */
export async function indexResult(parts: AsyncIterable<ResultPart>): Promise<ResultIndex> {
  const hasher = createKeyHasher();
  const keys = createKeyTable();
  const rowsOfKey = createCounters();
  const verdictsOfKey = createCounters();
  const references = createHashes();
  const mappings = createHashes();
  const counts = { unidentified: 0, summaries: 0, incorrect: 0, unreadable: 0 };
  let fields: readonly ResultField[] = [];
  let columns: readonly string[] = [];
  let form: ResultForm | undefined;
  let key: readonly KeyField[] = [];
  let end: ResultEnd = { rows: 0, malformed: 0, endsWithLineEnd: false, isWhole: false };

  function add(row: ResultRow): void {
    if (row.isSummary) {
      counts.unidentified += 1;
      counts.summaries += 1;
      return;
    }
    if (row.isCorrect === false) counts.incorrect += 1;
    if (row.isCorrect === undefined) counts.unreadable += 1;
    if (key.every((field) => row[field] === undefined)) {
      counts.unidentified += 1;
      return;
    }
    hasher.begin();
    for (const field of key) hasher.addText(String(row[field] ?? ''));
    const number = keys.findOrAdd(hasher);
    rowsOfKey.set(number, rowsOfKey.get(number) + 1);
    verdictsOfKey.set(number, verdictsOfKey.get(number) | verdictBitOf(row));
    if (row.bookingReferenceId === undefined) return;
    references.set(number, hasher.hash(row.bookingReferenceId));
    if (row.serviceId === undefined) return;
    mappings.set(number, hasher.hash(String(row.serviceId), row.bookingReferenceId));
  }

  for await (const part of parts) {
    switch (part.kind) {
      case 'header':
        ({ fields, columns, form } = part);
        if (fields.some((field) => namingFields.includes(field)))
          key = keyFields.filter((field) => fields.includes(field));
        break;
      case 'rows':
        part.rows.forEach(add);
        break;
      case 'end':
        ({ end } = part);
        break;
    }
  }
  return {
    fields,
    columns,
    form,
    end,
    ...counts,
    key,
    keys,
    rowsOfKey,
    verdictsOfKey,
    referenceOf: references.get,
    mappingOf: mappings.get,
  };
}

/** What combined verdicts say: "incorrect" wins over "correct", and both over a row without a readable verdict. */
export function sayVerdict(verdicts: number): Judged | 'correct' {
  if ((verdicts & verdictBits.incorrect) !== 0) return 'incorrect';
  if ((verdicts & verdictBits.correct) !== 0) return 'correct';
  return verdicts === 0 ? 'not-in-result' : 'unclear';
}

/** The verdicts without "correct", which becomes an unclear one. */
export function withoutCorrect(verdicts: number): number {
  const { correct, unclear } = verdictBits;
  return (verdicts & correct) === 0 ? verdicts : (verdicts & ~correct) | unclear;
}

/** The verdicts, and "correct". */
export function withCorrect(verdicts: number): number {
  return verdicts | verdictBits.correct;
}

function verdictBitOf({ isCorrect }: ResultRow): number {
  if (isCorrect === undefined) return verdictBits.unclear;
  return isCorrect ? verdictBits.correct : verdictBits.incorrect;
}
