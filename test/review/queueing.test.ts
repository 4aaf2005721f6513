import { describe, expect, it } from 'vitest';
import { toQueuedStep } from '../../src/review/perform/queueing.js';

describe('a reference of an open step', () => {
  it('carries what the ledger says of it, and nothing more', () => {
    const step = { position: 7, name: 'batch 7', attempt: 1, notBefore: 1_000 };
    expect(toQueuedStep('run-a', step)).toEqual({
      runId: 'run-a',
      step: 'batch 7',
      attempt: 1,
      notBefore: 1_000,
      isUrgent: false,
    });
  });

  it.each([
    ['batch 0', 2, true],
    ['batch 0.1', 1, false],
    ['upload', 1, true],
    ['await-result', 9, true],
  ])('of %s, attempt %d, is urgent: %s', (name, attempt, isUrgent) => {
    expect(toQueuedStep('run-a', { position: 0, name, attempt }).isUrgent).toBe(isUrgent);
  });
});
