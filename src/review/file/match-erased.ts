import {
  createCounters,
  type createHashes,
  createKeyTable,
  createSentNameReader,
  type KeyField,
  readSentText,
} from './result-keys.js';

/** Of a result, by key. */
interface ErasedParts {
  readonly key: readonly KeyField[];
  readonly keys: ReturnType<typeof createKeyTable>;
  /** Its ids without the reference. */
  readonly otherIds: ReturnType<typeof createHashes>;
  readonly verdictsOfKey: ReturnType<typeof createCounters>;
}

export const otherThanReference = (key: readonly KeyField[]) =>
  key.filter((field) => field !== 'bookingReferenceId');

/** Matches bookings whose references were erased with rows whose references were not sent, by their other ids. */
export function createErasedMatch({ key, keys, otherIds, verdictsOfKey }: ErasedParts) {
  const readName = createSentNameReader(key);
  const readIds = createSentNameReader(otherThanReference(key));
  const known = createKeyTable();
  const bookings = createCounters();
  const verdicts = createCounters();
  const isErased = (lines: Buffer, start: number) => readSentText(lines, start, 'bookingReferenceId') === '';
  return {
    /** Whether the booking's reference was erased. */
    matchBooking(lines: Buffer, start: number): boolean {
      if (!isErased(lines, start) || keys.find(readName(lines, start)) !== undefined) return false;
      bookings.add(known.findOrAdd(readIds(lines, start)), 1);
      return true;
    },
    matchRow(row: number): boolean {
      const ids = otherIds.get(row);
      const number = ids && known.find(ids);
      if (number === undefined) return false;
      verdicts.set(number, verdicts.get(number) | verdictsOfKey.get(row));
      return true;
    },
    countAnswered(): number {
      let answered = 0;
      for (let number = 0; number < known.size; number += 1)
        if (verdicts.get(number) !== 0) answered += bookings.get(number);
      return answered;
    },
    verdictsOf(lines: Buffer, start: number): number {
      if (known.size === 0 || !isErased(lines, start)) return 0;
      const number = known.find(readIds(lines, start));
      return number === undefined ? 0 : verdicts.get(number);
    },
  };
}
