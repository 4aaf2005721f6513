import { describe, expect, it } from 'vitest';
import { createPatience, type PeerFault } from '../../src/base/peer-patience.js';

const minuteMs = 60_000;

/** What is decided about a fault that is met at these minutes. */
function decide(faults: readonly (readonly [minute: number, PeerFault | 'success'])[], hasWorked: boolean) {
  let now = 0;
  const patience = createPatience(() => now, hasWorked);
  return faults.map(([minute, fault]) => {
    now = minute * minuteMs;
    return fault === 'success' ? patience.noteSuccess() : patience.judge(fault);
  });
}

describe('a peer that could never be used', () => {
  it.each<[PeerFault, string]>([
    ['refused', 'refuse'],
    ['unsuited', 'refuse'],
    ['read-only', 'retry'],
    ['passing', 'retry'],
  ])('and is %s: %s', (fault, decision) => {
    expect(decide([[0, fault]], false)).toEqual([decision]);
  });
});

describe('a peer that could be used before', () => {
  it.each<PeerFault>(['refused', 'unsuited', 'read-only'])('is given up after five minutes: %s', (fault) => {
    const met = [0, 1, 4.99, 5, 60].map((minute) => [minute, fault] as const);
    expect(decide(met, true)).toEqual(['retry', 'retry', 'retry', 'give-up', 'give-up']);
  });

  it('is borne with for ever while it is only away', () => {
    expect(
      decide(
        [0, 5, 5_000].map((minute) => [minute, 'passing']),
        true,
      ),
    ).toEqual(['retry', 'retry', 'retry']);
  });

  it('has five minutes since its last success, whatever it was in between', () => {
    const met = [
      [0, 'refused'],
      [4, 'success'],
      [8, 'refused'],
      [9, 'passing'],
      [12, 'read-only'],
      [13, 'refused'],
      [14, 'success'],
      [14, 'refused'],
    ] as const;
    expect(decide(met, false)).toEqual([
      ...['refuse', undefined, 'retry', 'retry', 'retry', 'give-up'],
      ...[undefined, 'retry'],
    ]);
  });
});
