import { describe, expect, it } from 'vitest';
import type { QueuedStep } from '../../../src/booking/step-queue.js';
import { enqueueOpenSteps, toQueuedStep } from '../../../src/review/perform/step-runner.js';
import type { OpenStep } from '../../../src/rules/step.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { createForgetfulQueue } from '../forgetful-queue.js';
import { unstopped } from '../working-day.js';

const stepOf = (position: number, notBefore?: number): OpenStep => ({
  ...{ position, name: `batch ${position}`, attempt: 2 },
  ...(notBefore !== undefined && { notBefore }),
});

/** Queues these open steps at 1,000,000, no wait being longer than a minute. @returns what is queued, page by page */
async function enqueue(
  steps: readonly OpenStep[],
  waitForCapacity: () => Promise<void> = async () => {},
  signal: AbortSignal = unstopped,
) {
  const pages: (readonly QueuedStep[])[] = [];
  const ledger = fakeLedger({
    steps: {
      async listOpen(_, { after, limit }) {
        const from = after === undefined ? 0 : steps.findIndex(({ name }) => name === after.name) + 1;
        return steps.slice(from, from + limit);
      },
    },
  });
  const add = async (queued: Iterable<QueuedStep>) => void pages.push([...queued]);
  const queue = { ...createForgetfulQueue(), add, waitForCapacity };
  await enqueueOpenSteps(
    { id: 'r1' },
    { ledger, queue, longestWaitMs: 60_000, clock: () => 1_000_000 },
    signal,
  );
  return pages;
}

describe('enqueueing steps', () => {
  const many = Array.from({ length: 1_201 }, (_, position) => stepOf(position));

  it('queues every open step once, in plan order, page by page', async () => {
    const pages = await enqueue(many);
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 201, 0]);
    expect(pages.flat().map(({ step }) => step)).toEqual(many.map(({ name }) => name));
    expect(pages.flat()[0]).toMatchObject({ runId: 'r1', attempt: 2 });
  });

  it('waits for capacity before it reads the next page, and stops waiting when it is stopped', async () => {
    const stop = new AbortController();
    const waitForCapacity = () => {
      queueMicrotask(() => stop.abort());
      return new Promise<void>(() => {});
    };
    expect(await enqueue(many, waitForCapacity, stop.signal)).toHaveLength(1);
  });

  it('believes no wait that is longer than the settings allow', async () => {
    const pages = await enqueue([stepOf(0, 2_000_000), stepOf(1, 1_059_999), stepOf(2, 5), stepOf(3)]);
    expect(pages.flat().map(({ notBefore }) => notBefore)).toEqual([1_060_000, 1_059_999, 5, undefined]);
  });
});

describe('a reference of an open step', () => {
  it.each([
    ['batch 0', 2, true],
    ['batch 0.1', 1, false],
    ['upload', 1, true],
    ['await-result', 9, true],
  ])('of %s, attempt %d, is urgent: %s', (name, attempt, isUrgent) => {
    expect(toQueuedStep('run-a', { position: 0, name, attempt }).isUrgent).toBe(isUrgent);
  });
});
