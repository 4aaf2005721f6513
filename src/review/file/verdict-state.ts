import { yieldIfDue } from '../../base/event-loop.js';
import {
  type Judged,
  type JudgedRows,
  unansweredReasons,
  type VerdictSource,
} from '../../rules/review-file.js';

/** What files say about a booking. */
export type Said = Judged | 'correct';

/** What a file says about each booking of a stored batch, in their order. */
export interface SaidOfBatch {
  readonly batch: number;
  readonly said: readonly Said[];
}

/** What is recorded about the bookings of a file; `sources` is `verdictSources`. */
export interface RecordedVerdicts {
  readonly verdicts: readonly JudgedRows[];
  readonly sources: readonly VerdictSource[];
}

/**
 * Whether a file as it is now is newer than another, or than what it was itself. Where the server keeps no times, only what
 * replaced a file is newer than it.
 */
function isNewer(one: VerdictSource, other: VerdictSource, keepsTimes: boolean): boolean {
  const isItself = one.name === other.name;
  if (!keepsTimes || one.modifiedAt === undefined || other.modifiedAt === undefined) return isItself;
  return isItself ? one.modifiedAt >= other.modifiedAt : one.modifiedAt > other.modifiedAt;
}

/** Ranks what is said: the highest counts, but for "incorrect", which counts as long as the booking has an accuser. */
const ranks = { 'not-in-result': 0, unclear: 1, incorrect: 1, correct: 2 } as const satisfies Record<
  Said,
  number
>;

interface KnownBatch {
  /** Of each booking that a file was read about: its rank. */
  ranks: Uint8Array;
  /** By row: the file because of which the booking is incorrect. */
  readonly accusers: Map<number, VerdictSource>;
  /** Rows that any file ever called incorrect. */
  readonly accused: Set<number>;
}

/** Nobody knows which file it was, so that none is newer. */
const unknownFile: VerdictSource = { name: '' };

export type VerdictState = ReturnType<typeof createVerdictState>;

/**
 * What is known about the bookings of a file, in one byte each and more for incorrect ones: first what was recorded as incorrect, then
 * what each file says, oldest first.
 *
 * Once a booking is incorrect, only a newer "correct" clears it: not a file that does not name it, nor a verdict that cannot be read, nor
 * an older or equally old file.
 */
export function createVerdictState(recorded: RecordedVerdicts, keepsTimes: boolean) {
  const batches = new Map<number, KnownBatch>();

  function knownOf(batch: number): KnownBatch {
    const known = batches.get(batch) ?? {
      ranks: new Uint8Array(),
      accusers: new Map<number, VerdictSource>(),
      accused: new Set<number>(),
    };
    batches.set(batch, known);
    return known;
  }

  // What else was recorded is said again, or no longer so.
  const isOrWasIncorrect = recorded.verdicts.filter(
    ({ judged }) => judged === 'incorrect' || judged === 'cleared',
  );
  for (const { batch, judged, rows, sources = [] } of isOrWasIncorrect) {
    const { accusers, accused } = knownOf(batch);
    for (const [index, row] of rows.entries()) {
      accused.add(row);
      if (judged === 'incorrect') accusers.set(row, recorded.sources[sources[index] ?? -1] ?? unknownFile);
    }
  }

  function accuse({ accusers, accused }: KnownBatch, row: number, by: VerdictSource): void {
    const accuser = accusers.get(row);
    const isOlder = accuser !== undefined && accuser.name !== by.name && isNewer(accuser, by, keepsTimes);
    if (!isOlder) accusers.set(row, by);
    accused.add(row);
  }

  function acquit({ accusers }: KnownBatch, row: number, by: VerdictSource): void {
    const accuser = accusers.get(row);
    if (accuser && isNewer(by, accuser, keepsTimes)) accusers.delete(row);
  }

  /** The bookings of a batch by what is to be recorded about them. @param source numbers a file */
  function* list(
    { ranks: rankOf, accusers, accused }: KnownBatch,
    source: (file: VerdictSource) => number,
  ): Generator<Omit<JudgedRows, 'batch'>> {
    const wrong = [...accusers].sort(([one], [other]) => one - other);
    yield {
      judged: 'incorrect',
      rows: wrong.map(([row]) => row),
      sources: wrong.map(([, file]) => source(file)),
    };
    for (const judged of unansweredReasons) {
      const rows: number[] = [];
      for (const [row, rank] of rankOf.entries())
        if (rank === ranks[judged] && !accusers.has(row)) rows.push(row);
      yield { judged, rows };
    }
    const cleared = [...accused].filter((row) => !accusers.has(row));
    yield { judged: 'cleared', rows: cleared.sort((one, other) => one - other) };
  }

  return {
    /** Adds what the next file says about all bookings. */
    async add(file: AsyncIterable<SaidOfBatch> | Iterable<SaidOfBatch>, by: VerdictSource): Promise<void> {
      for await (const { batch, said } of file) {
        const known = knownOf(batch);
        if (known.ranks.length === 0) known.ranks = new Uint8Array(said.length);
        for (const [row, one] of said.entries()) {
          known.ranks[row] = Math.max(known.ranks[row] ?? 0, ranks[one]);
          if (one === 'incorrect') accuse(known, row, by);
          else if (one === 'correct') acquit(known, row, by);
        }
        await yieldIfDue();
      }
    },
    /** Bookings that no file names that was added. */
    countUnnamed(): number {
      let unnamed = 0;
      for (const known of batches.values())
        for (const rank of known.ranks) if (rank === ranks['not-in-result']) unnamed += 1;
      return unnamed;
    },
    /** What is to be recorded, with the versions of files that it refers to: a result that grows is read hundreds of times. */
    end(): RecordedVerdicts {
      const numbers = new Map<VerdictSource, number>();
      const source = (file: VerdictSource) => {
        const number = numbers.get(file) ?? numbers.size;
        numbers.set(file, number);
        return number;
      };
      const verdicts = [...batches]
        .sort(([one], [other]) => one - other)
        .flatMap(([batch, known]) => [...list(known, source)].map((of) => ({ batch, ...of })))
        .filter(({ rows }) => rows.length > 0);
      return { verdicts, sources: [...numbers.keys()] };
    },
  };
}
