import type { Judged, JudgedRows, VerdictSource } from '../../rules/review-file.js';

/** What files say about a booking. */
export type Said = Judged | 'correct';

/** What is known about a booking of the file, and which file says so if it is incorrect. */
export interface KnownVerdict {
  readonly said: Said;
  readonly source?: VerdictSource | undefined;
}

/**
 * What is known about a booking once another file says something about it; files that are read together come oldest first.
 * Once it is incorrect, only a newer "correct" clears it: not a file that does not name it, nor a verdict that cannot be read, nor
 * an older or equally old file.
 */
export function say(known: KnownVerdict, said: Said, by: VerdictSource, keepsTimes: boolean): KnownVerdict {
  const { source } = known;
  switch (said) {
    case 'incorrect':
      return {
        said,
        source: source && isNewer(source, by, keepsTimes) && source.name !== by.name ? source : by,
      };
    case 'correct': {
      const mayClear =
        known.said !== 'incorrect' || (source !== undefined && isNewer(by, source, keepsTimes));
      return mayClear ? { said } : known;
    }
    case 'unclear':
      return known.said === 'not-in-result' ? { said } : known;
    case 'not-in-result':
      return known;
  }
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

/** What a file says about each booking of a stored batch, in their order. */
export interface SaidOfBatch {
  readonly batch: number;
  readonly said: readonly Said[];
}

const kinds = ['not-in-result', 'unclear', 'correct', 'incorrect'] as const satisfies readonly Said[];
const stored = ['incorrect', 'not-in-result', 'unclear'] as const satisfies readonly Judged[];

/** Of each booking: the index of its kind, and one more than the index of its source. */
interface KnownBatch {
  readonly said: Uint8Array;
  readonly sources: Uint16Array;
  /** Whether a file that was read names it. */
  readonly isNamed: Uint8Array;
  /** Whether any file ever called it incorrect. */
  readonly wasIncorrect: Uint8Array;
}

/**
 * What is known about the bookings of a file, in five bytes each: first what was recorded as incorrect, then what each file says,
 * oldest first; see `say`.
 */
export function createVerdictState({
  recorded,
  sources: recordedSources,
  keepsTimes,
}: {
  readonly recorded: readonly JudgedRows[];
  /** Those of `recorded`, of which nothing but what is or was incorrect counts. */
  readonly sources: readonly VerdictSource[];
  readonly keepsTimes: boolean;
}) {
  const sources = [...recordedSources];
  const batches = new Map<number, KnownBatch>();
  const incorrect = recorded.filter(({ judged }) => judged === 'incorrect');
  const recordedOf = new Map(incorrect.map((rows) => [rows.batch, rows]));
  const cleared = recorded.filter(({ judged }) => judged === 'cleared');

  function begin(batch: number, bookings: number): KnownBatch {
    const known = {
      said: new Uint8Array(bookings),
      sources: new Uint16Array(bookings),
      isNamed: new Uint8Array(bookings),
      wasIncorrect: new Uint8Array(bookings),
    };
    const { rows = [], sources: fileOfRow = [] } = recordedOf.get(batch) ?? {};
    for (const [index, row] of rows.entries()) {
      known.said[row] = kinds.indexOf('incorrect');
      known.sources[row] = 1 + (fileOfRow[index] ?? -1);
      known.wasIncorrect[row] = 1;
    }
    for (const { rows } of cleared.filter((of) => of.batch === batch))
      for (const row of rows) known.wasIncorrect[row] = 1;
    batches.set(batch, known);
    return known;
  }

  function sayOf(known: KnownBatch, row: number, said: Said, number: number): void {
    if (said === 'not-in-result') return;
    known.isNamed[row] = 1;
    const before = kinds[known.said[row] ?? 0] ?? 'not-in-result';
    // Nearly all are correct, and were not incorrect before.
    if (said === 'correct' && before !== 'incorrect') {
      known.said[row] = kinds.indexOf('correct');
      return;
    }
    const source = sources[(known.sources[row] ?? 0) - 1];
    const by = sources[number] ?? { name: '' };
    const after = say({ said: before, source }, said, by, keepsTimes);
    known.said[row] = kinds.indexOf(after.said);
    if (after.said === 'incorrect') known.wasIncorrect[row] = 1;
    if (after.source !== source) known.sources[row] = after.source === by ? 1 + number : 0;
  }

  /** The stored form; a booking is listed under what `toStored` makes of what is known about it. */
  function list(toStored: (said: Said) => Said): JudgedRows[] {
    const found = [...incorrect, ...cleared].filter(({ batch }) => !batches.has(batch));
    for (const [batch, known] of batches) {
      const said = Array.from(known.said, (kind) => toStored(kinds[kind] ?? 'not-in-result'));
      for (const judged of stored) {
        const rows = said.flatMap((one, row) => (one === judged ? [row] : []));
        if (rows.length === 0) continue;
        const fileOfRow = judged === 'incorrect' && rows.map((row) => (known.sources[row] ?? 0) - 1);
        found.push({ batch, judged, rows, ...(fileOfRow && { sources: fileOfRow }) });
      }
      const rows = said.flatMap((one, row) =>
        one !== 'incorrect' && known.wasIncorrect[row] === 1 ? [row] : [],
      );
      if (rows.length > 0) found.push({ batch, judged: 'cleared', rows });
    }
    return found.sort((one, other) => one.batch - other.batch);
  }

  return {
    /** Adds what the next file says about all bookings. */
    async add(file: AsyncIterable<SaidOfBatch>, by: VerdictSource): Promise<void> {
      const number = sources.push(by) - 1;
      for await (const { batch, said } of file) {
        const known = batches.get(batch) ?? begin(batch, said.length);
        for (const [row, one] of said.entries()) sayOf(known, row, one, number);
      }
    },
    /** Bookings that no file names that was added. */
    countUnnamed(): number {
      let unnamed = 0;
      for (const { isNamed } of batches.values()) for (const one of isNamed) unnamed += 1 - one;
      return unnamed;
    },
    /** What is to be recorded, with the sources that it refers to. */
    end(toStored: (said: Said) => Said = (said) => said): RecordedVerdicts {
      return onlyUsed({ verdicts: list(toStored), sources });
    },
  };
}

export type VerdictState = ReturnType<typeof createVerdictState>;

/** What is recorded about the bookings of a file; `sources` is `verdictSources`. */
export interface RecordedVerdicts {
  readonly verdicts: readonly JudgedRows[];
  readonly sources: readonly VerdictSource[];
}

/** A result that grows is read hundreds of times: only versions that are referred to are kept. */
function onlyUsed({ verdicts, sources }: RecordedVerdicts): RecordedVerdicts {
  const indexes = new Map<number, number>();
  const used: VerdictSource[] = [];
  const renumbered = verdicts.map(({ sources: fileOfRow, ...of }): JudgedRows => {
    if (!fileOfRow) return of;
    const renumber = (number: number) => {
      const known = indexes.get(number);
      if (known !== undefined) return known;
      indexes.set(number, used.length);
      return used.push(sources[number] ?? { name: '' }) - 1;
    };
    return { ...of, sources: fileOfRow.map(renumber) };
  });
  return { verdicts: renumbered, sources: used };
}
