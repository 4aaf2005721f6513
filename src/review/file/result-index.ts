import {
  type Counters,
  createCounters,
  createKeyHasher,
  createKeyTable,
  type KeyHash,
  type KeyTable,
} from './key-table.js';
import type { ResultEnd, ResultField, ResultPart, ResultRow } from './result.js';
import { type KeyField, keyFields } from './sent-names.js';

/** A provider alone names none. */
const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** Verdicts of several rows together, a bit each; none is 0. */
const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

/** What a result says, by key: the booking's reference, master id, provider and hotel id as far as it has columns. */
export interface ResultIndex {
  /** What the result has columns for. */
  readonly fields: readonly ResultField[];
  readonly end: ResultEnd;
  /** Rows that name nothing. */
  readonly unidentified: number;
  /** Rows that say "incorrect", and rows without a verdict that could be understood. */
  readonly incorrect: number;
  readonly unclear: number;
  /** What names a booking in this result; nothing where it has no columns for that. */
  readonly key: readonly KeyField[];
  readonly keys: KeyTable;
  readonly rowsOfKey: Counters;
  readonly verdictsOfKey: Counters;
  /** The reference that the rows of a key name. */
  referenceOf(key: number): KeyHash | undefined;
}

/** Reads a result to its end and keeps what it says, without its texts: some 40 bytes a row. */
export async function indexResult(parts: AsyncIterable<ResultPart>): Promise<ResultIndex> {
  const hasher = createKeyHasher();
  const keys = createKeyTable();
  const rowsOfKey = createCounters();
  const verdictsOfKey = createCounters();
  /** By key, the two halves of its reference's hash; both are 0 where there is none. */
  const highOfKey = createCounters();
  const lowOfKey = createCounters();
  const counts = { unidentified: 0, incorrect: 0, unclear: 0 };
  let fields: readonly ResultField[] = [];
  let key: readonly KeyField[] = [];
  let end: ResultEnd = { rows: 0, malformed: 0, endsWithLineEnd: false, isWhole: false };

  function add(row: ResultRow): void {
    if (row.isCorrect === false) counts.incorrect += 1;
    if (row.isCorrect === undefined) counts.unclear += 1;
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
    hasher.begin();
    hasher.addText(row.bookingReferenceId);
    highOfKey.set(number, hasher.high);
    lowOfKey.set(number, hasher.low);
  }

  for await (const part of parts) {
    switch (part.kind) {
      case 'header':
        fields = part.fields;
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
    end,
    ...counts,
    key,
    keys,
    rowsOfKey,
    verdictsOfKey,
    referenceOf(key) {
      const high = highOfKey.get(key);
      const low = lowOfKey.get(key);
      return high === 0 && low === 0 ? undefined : { high, low };
    },
  };
}

/** Whether one of several verdicts is "incorrect". */
export function saysIncorrect(verdicts: number): boolean {
  return (verdicts & verdictBits.incorrect) !== 0;
}

function verdictBitOf({ isCorrect }: ResultRow): number {
  if (isCorrect === undefined) return verdictBits.unclear;
  return isCorrect ? verdictBits.correct : verdictBits.incorrect;
}
