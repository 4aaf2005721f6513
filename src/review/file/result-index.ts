import { createKeyTable, type KeyTable } from './key-table.js';
import type { ResultEnd, ResultPart, ResultRow } from './result.js';
import type { ResultField } from './result-header.js';
import { createTally, type Tally } from './tally.js';

/** What names a booking, where the result has it. */
const keyFields = ['bookingReferenceId', 'serviceId', 'providerName', 'providerHotelId'] as const;
type KeyField = (typeof keyFields)[number];
/** A provider alone names none. */
const namingFields: readonly ResultField[] = ['bookingReferenceId', 'serviceId', 'providerHotelId'];

/** A row of the result, or a booking. */
export type Named = { readonly [field in KeyField]?: string | number | undefined };

/** Verdicts of several rows together, a bit each; none is 0. */
export const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

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
  keyOf(named: Named): readonly string[];
  readonly keys: KeyTable;
  readonly rowsOfKey: Tally;
  readonly verdictsOfKey: Tally;
  /** The references that rows name. */
  readonly references: KeyTable;
  /** By key, one more than the reference's number; 0 where there is none. */
  readonly referenceOfKey: Tally;
}

/** Reads a result to its end and keeps what it says, without its texts: some 40 bytes a row. */
export async function indexResult(parts: AsyncIterable<ResultPart>): Promise<ResultIndex> {
  const keys = createKeyTable();
  const references = createKeyTable();
  const rowsOfKey = createTally();
  const verdictsOfKey = createTally();
  const referenceOfKey = createTally();
  const counts = { unidentified: 0, incorrect: 0, unclear: 0 };
  let fields: readonly ResultField[] = [];
  let key: readonly KeyField[] = [];
  let end: ResultEnd = { rows: 0, malformed: 0, endsWithLineEnd: false, isWhole: false };

  const keyOf = (named: Named) => key.map((field) => String(named[field] ?? ''));

  function add(row: ResultRow): void {
    if (row.isCorrect === false) counts.incorrect += 1;
    if (row.isCorrect === undefined) counts.unclear += 1;
    if (key.every((field) => row[field] === undefined)) {
      counts.unidentified += 1;
      return;
    }
    const number = keys.findOrAdd(keyOf(row));
    rowsOfKey.set(number, rowsOfKey.get(number) + 1);
    verdictsOfKey.set(number, verdictsOfKey.get(number) | verdictBitOf(row));
    if (row.bookingReferenceId !== undefined)
      referenceOfKey.set(number, references.findOrAdd([row.bookingReferenceId]) + 1);
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
    keyOf,
    keys,
    rowsOfKey,
    verdictsOfKey,
    references,
    referenceOfKey,
  };
}

function verdictBitOf({ isCorrect }: ResultRow): number {
  if (isCorrect === undefined) return verdictBits.unclear;
  return isCorrect ? verdictBits.correct : verdictBits.incorrect;
}
