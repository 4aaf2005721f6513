import { describe, expect, it } from 'vitest';
import type { QueuedStep } from '../../../src/booking/step-queue.js';
import { enqueueOpenSteps, toQueuedStep } from '../../../src/review/perform/step-runner.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { prepareDelivery } from '../delivering.js';
import { createForgetfulQueue } from '../forgetful-queue.js';
import { ok } from '../scripted-service.js';
import { unstopped } from '../working-day.js';

const timing = { clock: () => 0, longestWaitMs: 60_000 };
const day = () => prepareDelivery({ bookings: 1_201, batchSize: 1, answer: () => ok });

describe('enqueueing steps', () => {
  it('queues every open step once, in plan order, page by page', async () => {
    const { ledger, right } = await day();
    const { queue, pages } = createPageQueue();
    await enqueueOpenSteps({ id: right.runId }, { ledger, queue, ...timing }, unstopped);
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 201, 0]);
    expect(pages.flat().map(({ step }) => step)).toEqual(
      Array.from({ length: 1_201 }, (_, number) => `batch ${number}`),
    );
    expect(pages.flat()[0]).toMatchObject({ runId: right.runId, attempt: 1 });
  });

  it('waits for capacity before it reads the next page, and stops waiting when it is stopped', async () => {
    const { ledger, right } = await day();
    const stop = new AbortController();
    const capacity = createGate();
    const isFull = createGate();
    const { queue, pages } = createPageQueue(() => {
      isFull.open();
      return capacity.passed;
    });
    const fed = enqueueOpenSteps({ id: right.runId }, { ledger, queue, ...timing }, stop.signal);
    await isFull.passed;
    expect(pages).toHaveLength(1);
    stop.abort();
    await fed;
    expect(pages).toHaveLength(1);
  });

  it('believes no wait that is longer than the settings allow', async () => {
    const open = (name: string, notBefore?: number) => ({ position: 0, name, attempt: 2, notBefore });
    const steps = [open('a', 2_000_000), open('b', 1_059_999), open('c', 5), open('d')].map(
      ({ notBefore, ...step }) => ({ ...step, ...(notBefore !== undefined && { notBefore }) }),
    );
    const ledger = fakeLedger({ steps: { listOpen: async (_, { after }) => (after ? [] : steps) } });
    const { queue, pages } = createPageQueue();
    const parts = { ledger, queue, longestWaitMs: 60_000, clock: () => 1_000_000 };
    await enqueueOpenSteps({ id: 'r1' }, parts, unstopped);
    expect(pages.flat().map(({ notBefore }) => notBefore)).toEqual([1_060_000, 1_059_999, 5, undefined]);
  });
});

function createPageQueue(waitForCapacity: () => Promise<void> = async () => {}) {
  const pages: (readonly QueuedStep[])[] = [];
  const add = async (steps: Iterable<QueuedStep>) => void pages.push([...steps]);
  return { pages, queue: { ...createForgetfulQueue(), add, waitForCapacity } };
}

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
