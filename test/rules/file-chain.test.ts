import { describe, expect, it } from 'vitest';
import {
  countPlanned,
  type ShownStep,
  type StepCount,
  showSteps,
  startChain,
} from '../../src/rules/file-chain.js';
import type { StepKind } from '../../src/rules/step.js';
import { someRun } from '../review/some-run.js';

const step = (kind: StepKind, state: StepCount['state'], bookings: number): StepCount => ({
  ...{ kind, state, steps: 1, bookings },
});
const shown = (kind: StepKind, state: ShownStep['state'], bookings = 0): ShownStep => ({
  ...{ kind, state, steps: 1, bookings },
});

describe('the steps of a file run, as people see them', () => {
  it('are all of its chain from the start, in their order, before its batches', () => {
    const batches = step('batch', 'ready', 2);
    expect(showSteps([step('upload', 'failed', 6), step('write', 'done', 0), batches], {})).toEqual([
      shown('write', 'done'),
      shown('upload', 'failed'),
      shown('trigger', 'waiting', 6),
      shown('await-result', 'waiting'),
      shown('archive', 'waiting'),
      batches,
    ]);
  });

  it('say which one looks for an overdue result', () => {
    const done = [step('trigger', 'done', 6), step('upload', 'done', 0), step('write', 'done', 0)];
    const states = (steps: readonly StepCount[], overdueAt?: number) =>
      showSteps([...steps, ...done], { ...(overdueAt !== undefined && { overdueAt }) }).map(
        ({ state }) => state,
      );
    const looking = [step('await-result', 'ready', 0)];
    expect(states(looking)).toEqual(['done', 'done', 'done', 'ready', 'waiting']);
    expect(states(looking, 9)).toEqual(['done', 'done', 'done', 'overdue', 'waiting']);
  });

  it('are its batches alone where none is in the file', () => {
    const batches = [step('batch', 'done', 4), step('batch', 'ready', 2)];
    expect(showSteps(batches, {})).toEqual(batches);
  });
});

it('a file run begins with its file alone, if any booking can be in it', () => {
  expect(startChain(6)).toEqual([{ name: 'write', kind: 'write', bookings: 6 }]);
  expect(startChain(0)).toEqual([]);
});

it('a collected run has as many steps as will come', () => {
  const count = (delivery: 'body' | 'file', posted: number, openSteps: number) =>
    countPlanned(someRun({ delivery, openSteps, counts: { accepted: 9, posted } }));
  expect([count('file', 4, 2), count('file', 9, 3), count('body', 0, 3)]).toEqual([6, 3, 3]);
});
