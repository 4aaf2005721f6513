import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createVerdictState,
  type RecordedVerdicts,
  type Said,
} from '../../../src/review/file/verdict-state.js';
import { stillCounts, type VerdictSource } from '../../../src/rules/review-file.js';

const bookings = 3;
const nothing: RecordedVerdicts = { verdicts: [], sources: [] };

/** A version of a file of the result: what it says about each booking. */
interface Version extends VerdictSource {
  readonly said: readonly Said[];
}

const anyVersion = fc.record({
  name: fc.constantFrom('A', 'B'),
  modifiedAt: fc.integer({ min: 1, max: 4 }),
  said: fc.array(fc.constantFrom<Said>('incorrect', 'correct', 'unclear', 'not-in-result'), {
    minLength: bookings,
    maxLength: bookings,
  }),
});
/** Each look reads the files that are there, each once. */
const anyLooks = fc.array(fc.uniqueArray(anyVersion, { selector: ({ name }) => name, maxLength: 2 }), {
  maxLength: 6,
});

/** One look: reads the files, and records what is known. */
async function look(
  recorded: RecordedVerdicts,
  files: readonly Version[],
  keepsTimes: boolean,
): Promise<RecordedVerdicts> {
  const state = createVerdictState(recorded, keepsTimes);
  for (const { said, ...by } of oldestFirst(files, keepsTimes)) {
    async function* read() {
      yield { batch: 0, said };
    }
    await state.add(read(), by);
  }
  return state.end();
}

function oldestFirst(files: readonly Version[], keepsTimes: boolean): Version[] {
  const timeOf = ({ modifiedAt = 0 }: Version) => (keepsTimes ? modifiedAt : 0);
  return files.toSorted((a, b) => timeOf(a) - timeOf(b) || (a.name < b.name ? -1 : 1));
}

function saidOf({ verdicts }: RecordedVerdicts, row: number): Said {
  const said = verdicts.filter(({ rows }) => rows.includes(row)).map(({ judged }) => judged);
  return said.find(stillCounts) ?? 'correct';
}

function isCleared({ verdicts }: RecordedVerdicts, row: number): boolean {
  return verdicts.some(({ judged, rows }) => judged === 'cleared' && rows.includes(row));
}

describe('a booking that was called incorrect', () => {
  it('is cleared by exactly those files that a model of one booking says, and not by the same files once more', async () => {
    await fc.assert(
      fc.asyncProperty(anyLooks, fc.boolean(), async (looks, keepsTimes) => {
        let recorded = nothing;
        /** What a clerk remembers: the files in the order in which they were read, and who last called it incorrect. */
        let accuser: VerdictSource | undefined;
        for (const files of looks) {
          const wasKnown =
            isCleared(recorded, 0) ||
            recorded.verdicts.some(({ judged, rows }) => judged === 'incorrect' && rows.includes(0));
          recorded = await look(recorded, files, keepsTimes);
          for (const { said, ...file } of oldestFirst(files, keepsTimes)) {
            const isOlder = (one: VerdictSource, other: VerdictSource) =>
              keepsTimes && (one.modifiedAt ?? 0) < (other.modifiedAt ?? 0);
            if (said[0] === 'incorrect')
              accuser = accuser && accuser.name !== file.name && isOlder(file, accuser) ? accuser : file;
            if (said[0] === 'correct' && accuser) {
              const isRewritten = accuser.name === file.name && !isOlder(file, accuser);
              if (isRewritten || isOlder(accuser, file)) accuser = undefined;
            }
          }
          if (files.length > 0) expect(await look(recorded, files, keepsTimes)).toEqual(recorded);
          expect(saidOf(recorded, 0) === 'incorrect').toBe(accuser !== undefined);
          // Whoever follows the verdicts up learns of it, however late.
          if (wasKnown) expect(accuser !== undefined || isCleared(recorded, 0)).toBe(true);
        }
      }),
    );
  });
});

describe('what is recorded', () => {
  it('names only the sources that it refers to, however often a result grows', async () => {
    let recorded = nothing;
    for (let modifiedAt = 1; modifiedAt <= 50; modifiedAt += 1)
      recorded = await look(
        recorded,
        [{ name: 'A', modifiedAt, said: ['incorrect', 'correct', 'not-in-result'] }],
        true,
      );
    expect(recorded).toEqual({
      verdicts: [
        { batch: 0, judged: 'incorrect', rows: [0], sources: [0] },
        { batch: 0, judged: 'not-in-result', rows: [2] },
      ],
      sources: [{ name: 'A', modifiedAt: 50 }],
    });
  });

  it('is not cleared where nobody knows what said so', async () => {
    const verdicts = [{ batch: 0, judged: 'incorrect' as const, rows: [0] }];
    const files = [{ name: 'A', modifiedAt: 9, said: ['correct', 'correct', 'correct'] as const }];
    expect(saidOf(await look({ verdicts, sources: [] }, files, true), 0)).toBe('incorrect');
  });

  it('keeps other batches, and counts the bookings that no file names', async () => {
    const verdicts = [
      { batch: 0, judged: 'incorrect' as const, rows: [1], sources: [0] },
      { batch: 1, judged: 'incorrect' as const, rows: [0], sources: [0] },
    ];
    const sources = [{ name: 'A', modifiedAt: 1 }];
    const state = createVerdictState({ verdicts, sources }, true);
    async function* read() {
      yield { batch: 0, said: ['correct', 'not-in-result', 'not-in-result'] as const };
    }
    await state.add(read(), { name: 'B', modifiedAt: 2 });
    expect(state.countUnnamed()).toBe(2);
    expect(state.end()).toEqual({
      verdicts: [verdicts[0], { batch: 0, judged: 'not-in-result', rows: [2] }, verdicts[1]],
      sources,
    });
  });
});

it.each<[recorded: Said, readBefore: Said, said: Said, expected: Said]>([
  ['not-in-result', 'correct', 'unclear', 'correct'],
  ['not-in-result', 'correct', 'not-in-result', 'correct'],
  ['not-in-result', 'unclear', 'not-in-result', 'unclear'],
  ['not-in-result', 'not-in-result', 'unclear', 'unclear'],
  ['not-in-result', 'unclear', 'correct', 'correct'],
  ['incorrect', 'not-in-result', 'unclear', 'incorrect'],
  ['incorrect', 'not-in-result', 'not-in-result', 'incorrect'],
  ['incorrect', 'not-in-result', 'correct', 'correct'],
])(
  'what is recorded (%s) and read (%s), once another file says "%s", is "%s"',
  async (was, before, said, expected) => {
    const first = await look(nothing, [{ name: 'A', modifiedAt: 1, said: [was] }], true);
    const files = [
      { name: 'B', modifiedAt: 2, said: [before] },
      { name: 'C', modifiedAt: 3, said: [said] },
    ];
    expect(saidOf(await look(first, files, true), 0)).toBe(expected);
  },
);
