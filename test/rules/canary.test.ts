import { expect, it } from 'vitest';
import {
  type Canary,
  type CanaryState,
  canaryStep,
  countMissedInRow,
  judgeCanary,
} from '../../src/rules/canary.js';

const withinMs = 60_000;
const late = 1_000 + withinMs;
const known = {
  unsent: {},
  notTaken: { givenUpFor: 'http-503' },
  waiting: { sentAt: 1_001 },
  missed: { sentAt: 1_000, givenUpFor: 'timeout' },
  named: { sentAt: 1_000, namedAt: 0 },
};
const canaryWith = (what: Partial<Canary>): Canary => ({
  ...{ reference: 'C-1', line: '7,C-1', withinMs, runId: 'r1', day: '2026-11-20' },
  ...what,
});

it.each<[Partial<Canary>, CanaryState]>([
  [known.unsent, 'unsent'],
  [known.notTaken, 'not-taken'],
  [known.waiting, 'waiting'],
  [known.missed, 'missed'],
  [known.named, 'named'],
  // The answer to the call that sent it was lost.
  [{ namedAt: late, givenUpFor: 'timeout' }, 'named'],
])('a canary of which %j is known is %s', (what, state) => {
  expect(judgeCanary(canaryWith(what), late)).toBe(state);
});

it.each<[readonly (keyof typeof known)[], number | undefined]>([
  [[], undefined],
  [['unsent', 'waiting', 'notTaken'], undefined],
  [['waiting', 'missed', 'notTaken', 'missed', 'unsent'], 2],
  [['waiting', 'missed', 'unsent', 'named', 'missed'], 1],
  [['named', 'missed'], 0],
])('of the canaries %j, from the newest, so many in a row were missed: %j', (canaries, missed) => {
  const found = canaries.map((name) => canaryWith(known[name]));
  expect(countMissedInRow(found, late)).toBe(missed);
});

it('the step of a canary carries no booking', () => {
  expect(canaryStep).toEqual({ name: 'canary', kind: 'canary', bookings: 0 });
});
