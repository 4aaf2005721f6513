import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BookingKeys, hashReference } from '../../../src/booking/booking.js';
import type { CollectedBatch } from '../../../src/ledger/collecting.js';
import {
  blockOf,
  createLineIndex,
  type LineBlock,
  type LineIndex,
} from '../../../src/review/collect/line-index.js';
import {
  createBatcher,
  createBookingStore,
  maxProviders,
} from '../../../src/review/collect/store-bookings.js';
import { createArraySource, readerOf, record } from '../array-source.js';
import { createForgetfulMemory } from '../forgetful-memory.js';
import { day } from '../late-days.js';

type Batching = ReturnType<typeof createBatcher>;
/** Lines to add, one by one; at `store` the ledger stores the full batches. */
type Act = string | typeof store;
const store = Symbol('store');

const anyActs = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 25 }).map((number) => `line ${number}`) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => `"${text}"`) },
    { weight: 1, arbitrary: fc.constant(store) },
  ),
  { maxLength: 120 },
);
const anyBatchSize = fc.integer({ min: 1, max: 12 });

describe('batching', () => {
  it('takes every line once, in order, in batches of the requested size, also where hashes collide', async () => {
    await fc.assert(
      fc.asyncProperty(anyActs, anyBatchSize, async (acts, batchSize) => {
        for (const memory of [createLineIndex(), createForgetfulMemory()])
          expect(await batch(acts, batchSize, memory)).toEqual(batchNaively(acts, batchSize));
      }),
    );
  });

  it('keeps a possible duplicate while further lines are added', async () => {
    const batching = createBatcher('posted', 2, async () => false, createForgetfulMemory());
    const answers = ['aaa', 'bbb', 'ccc', 'bbb'].map((line) => add(batching, line, line));
    expect(await Promise.all(answers)).toEqual([true, true, true, false]);
    const batches = batching.takeBatches({ isLast: true });
    expect(batches.map(({ referenceHashes }) => Array.from(referenceHashes))).toEqual([
      ['aaa', 'bbb'].map(hashReference),
      ['ccc'].map(hashReference),
    ]);
  });

  it('does not accept what it carries, and says how much of each batch that is', async () => {
    const batching = createBatcher('file', 2, async () => true);
    await add(batching, 'a', undefined);
    batching.startCarrying();
    for (const line of ['b', 'a', 'c', 'd']) await add(batching, line, undefined);
    expect(batching.accepted).toBe(1);
    expect(batching.takeBatches({ isLast: true }).map(({ carried }) => carried)).toEqual([1, 2]);
  });
});

async function batch(acts: readonly Act[], batchSize: number, memory: LineIndex) {
  const taken: CollectedBatch[] = [];
  const holds = async (_form: string, number: number, line: Buffer) => {
    const stored = taken.find((candidate) => candidate.number === number);
    if (!stored) throw new RangeError(`asked about batch ${number}, which was not stored`);
    return stored.lines.toString().split('\n').slice(0, -1).includes(line.toString());
  };
  const batching = createBatcher('posted', batchSize, holds, memory);
  const answers: boolean[] = [];
  // Several lines per block: adjacent lines of a block are kept together.
  const lines = acts.filter((act) => typeof act === 'string');
  const placed = placeInBlocks(lines.map((line) => ({ line, reference: referenceOf(line) })));
  const store = (isLast: boolean) => {
    taken.push(...batching.takeBatches({ isLast }));
  };
  for (const act of acts) {
    if (typeof act === 'string') {
      const line = placed.shift();
      answers.push(await take(batching, line));
      if (line?.block !== placed[0]?.block) overwrite(line);
    } else store(false);
    expect(batching.ready % batchSize).toBe(0);
  }
  store(true);
  const batches = taken.map(({ lines, ...rest }) => ({ ...rest, text: lines.toString() }));
  return { answers, batches, accepted: batching.accepted };
}

/** A batch keeps nothing of a block, which may be far larger. */
function overwrite(line: PlacedLine | undefined): void {
  if (!line) return;
  line.block.bytes.fill(0x78);
}

function batchNaively(acts: readonly Act[], batchSize: number) {
  const lines = acts.filter((act) => typeof act === 'string');
  const accepted = [...new Set(lines)];
  return {
    answers: lines.map((line, index) => lines.indexOf(line) === index),
    batches: Array.from({ length: Math.ceil(accepted.length / batchSize) }, (_, number) => {
      const own = accepted.slice(number * batchSize, (number + 1) * batchSize);
      return {
        stream: 'posted',
        number,
        text: own.map((line) => `${line}\n`).join(''),
        ...keysOfLines(own.map(referenceOf)),
        rows: own.map(() => null),
      };
    }),
    accepted: accepted.length,
  };
}

function keysOf(reference: string | undefined): BookingKeys {
  const referenceHash = hashReference(reference);
  return { referenceHash, hotelHash: referenceHash >>> 1, lastDay: referenceHash % 1_000 };
}

function keysOfLines(references: readonly (string | undefined)[]) {
  const keys = references.map(keysOf);
  return {
    carried: 0,
    referenceHashes: keys.map(({ referenceHash }) => referenceHash),
    stays: {
      hotelHashes: keys.map(({ hotelHash }) => hotelHash),
      lastDays: keys.map(({ lastDay }) => lastDay),
    },
  };
}

interface Line {
  readonly line: string;
  readonly reference: string | undefined;
}

interface PlacedLine extends Pick<Line, 'reference'> {
  readonly block: LineBlock;
  readonly index: number;
}

function placeInBlocks(lines: readonly Line[], linesPerBlock = 7): PlacedLine[] {
  return lines.flatMap((_, first) => {
    if (first % linesPerBlock !== 0) return [];
    const own = lines.slice(first, first + linesPerBlock);
    const bytes = Buffer.from(own.map(({ line }) => `${line}\n`).join(''));
    let end = -1;
    const ends = Uint32Array.from(own, ({ line }) => (end += Buffer.byteLength(line) + 1));
    const block = blockOf(bytes, ends);
    return own.map(({ reference }, index) => ({ block, index, reference }));
  });
}

function take(batching: Batching, line: PlacedLine | undefined): boolean | Promise<boolean> {
  if (!line) throw new RangeError('there is no such line');
  return batching.take(line.block, line.index, keysOf(line.reference));
}

function add(batching: Batching, line: string, reference: string | undefined): boolean | Promise<boolean> {
  return take(batching, placeInBlocks([{ line, reference }])[0]);
}

function referenceOf(line: string): string | undefined {
  return line.endsWith('3') ? undefined : `reference of ${line}`;
}

/** What is counted of chunks of bookings, each given by its number and the name of its provider. */
async function count(...chunks: readonly (readonly (readonly [number, string?])[])[]) {
  const source = createArraySource(
    chunks.map((chunk) => chunk.map(([number, name]) => record(number, name ? { ProviderName: name } : {}))),
  );
  const bookings = createBookingStore(day.iso, 500, { store: async () => {}, holds: async () => true });
  const { signal } = new AbortController();
  for await (const chunk of readerOf(source).read(day, { kind: 'body', names: 'send' }, { signal }))
    await bookings.take(chunk);
  return bookings.providers;
}

it('bookings are counted by provider, each once, without those that name none', async () => {
  expect(
    await count(
      [[1, 'a'], [2, 'a'], [2, 'a'], [3]],
      [
        [4, 'b'],
        [1, 'a'],
      ],
    ),
  ).toEqual({ a: 2, b: 1 });
});

it('a column with more values than there are providers is given up, in one chunk or over several', async () => {
  const rows = Array.from({ length: maxProviders + 1 }, (_, number) => [number, `p${number}`] as const);
  expect(await count(rows.slice(1))).not.toBeNull();
  expect(await count(rows)).toBeNull();
  expect(await count(rows.slice(0, 600), rows.slice(600))).toBeNull();
});
