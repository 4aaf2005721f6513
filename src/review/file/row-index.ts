import {
  createHashList,
  createKeyHasher,
  createKeyTable,
  createNumberList,
  type HashList,
  type KeyHash,
  type KeyTable,
  type NumberList,
} from './key-table.js';
import {
  namesBookings,
  type ResultField,
  type ResultReading,
  type ResultRow,
  type ResultTable,
  readResult,
} from './result.js';
import { type KeyField, keyFields, spellingOf } from './sent-lines.js';

/** Verdicts of several rows combined, one bit each; 0 for none. */
export const verdictBits = { correct: 1, incorrect: 2, unclear: 4 } as const;

/** Bookings in numbered groups, each with one key. Rows are about a group, so that its bookings share the verdicts. */
export interface BookingGroups {
  readonly keys: KeyTable;
  /** By group: how many bookings wait for its verdicts. */
  readonly bookings: NumberList;
  /** By group: the verdicts of its rows, combined. */
  readonly verdicts: NumberList;
}

export function createGroups(): BookingGroups {
  return { keys: createKeyTable(), bookings: createNumberList(), verdicts: createNumberList() };
}

export function addVerdicts({ verdicts }: BookingGroups, group: number, more: number): void {
  verdicts.set(group, verdicts.get(group) | more);
}

/** How many bookings have a row. */
export function countAnswered({ keys, bookings, verdicts }: BookingGroups): number {
  let answered = 0;
  for (let group = 0; group < keys.size; group += 1)
    if (verdicts.get(group) !== 0) answered += bookings.get(group);
  return answered;
}

/** The rows of a result by their key, without their texts. Lists of numbers, because a million rows are too many objects. */
export interface RowIndex extends BookingGroups {
  readonly table: ResultTable;
  readonly counts: RowCounts;
  /** The fields that identify a booking in this result; empty if there are none. */
  readonly key: readonly KeyField[];
  readonly rows: NumberList;
  readonly serviceIds: NumberList;
  /** The reference in the rows, and what it has in common with other spellings of it. */
  readonly references: HashList;
  readonly spellings: HashList;
  /** The key without the reference, where references were erased. */
  readonly otherIds: HashList;
}

interface RowCounts {
  unidentified: number;
  summaries: number;
  incorrect: number;
  unreadable: number;
}

export const otherThanReference = (key: readonly KeyField[]) =>
  key.filter((field) => field !== 'bookingReferenceId');

/**
 * Reads a result to its end and indexes its rows. Their key is the booking's reference, master id, provider and hotel id, as far as
 * the result has these columns.
 */
export async function indexRows(bytes: AsyncIterable<Uint8Array>, reading: ResultReading): Promise<RowIndex> {
  const index = {
    ...createGroups(),
    counts: { unidentified: 0, summaries: 0, incorrect: 0, unreadable: 0 },
    rows: createNumberList(),
    serviceIds: createNumberList(Float64Array),
    references: createHashList(),
    spellings: createHashList(),
    otherIds: createHashList(),
  };
  const hasher = createKeyHasher();
  const hash = (row: ResultRow, fields: readonly KeyField[]): KeyHash =>
    hasher.hash(...fields.map((field) => String(row[field] ?? '')));
  let key: readonly KeyField[] | undefined;

  function add(row: ResultRow, fields: readonly ResultField[]): void {
    key ??= listKey(fields);
    countRow(index.counts, row, key);
    if (!isIdentified(row, key)) return;
    const group = index.keys.findOrAdd(hash(row, key));
    index.rows.add(group, 1);
    index.serviceIds.set(group, row.serviceId ?? 0);
    addVerdicts(index, group, verdictBits[verdictOf(row)]);
    if (row.bookingReferenceId === undefined) return;
    index.references.set(group, hasher.hash(row.bookingReferenceId));
    index.spellings.set(group, hasher.hash(spellingOf(row.bookingReferenceId)));
    const otherIds = reading.hasErased ? otherThanReference(key) : [];
    if (otherIds.length > 0) index.otherIds.set(group, hash(row, otherIds));
  }

  const table = await readResult(bytes, reading, add);
  return { ...index, table, key: key ?? [] };
}

function listKey(fields: readonly ResultField[]): readonly KeyField[] {
  return namesBookings({ fields }) ? keyFields.filter((field) => fields.includes(field)) : [];
}

function isIdentified(row: ResultRow, key: readonly KeyField[]): boolean {
  return !row.isSummary && key.some((field) => row[field] !== undefined);
}

function countRow(counts: RowCounts, row: ResultRow, key: readonly KeyField[]): void {
  if (!isIdentified(row, key)) counts.unidentified += 1;
  if (row.isSummary) counts.summaries += 1;
  else if (row.isCorrect === false) counts.incorrect += 1;
  else if (row.isCorrect === undefined) counts.unreadable += 1;
}

function verdictOf({ isCorrect }: ResultRow): keyof typeof verdictBits {
  if (isCorrect === undefined) return 'unclear';
  return isCorrect ? 'correct' : 'incorrect';
}
