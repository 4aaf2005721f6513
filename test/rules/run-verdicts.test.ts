import { describe, expect, it } from 'vitest';
import type { Paint } from '../../src/base/colours.js';
import { type Counts, runStates } from '../../src/rules/run.js';
import {
  countAffected,
  formatKnown,
  hasUnknownVerdicts,
  listCounts,
  nameState,
  paintState,
  sumKnown,
  type Unknown,
} from '../../src/rules/run-verdicts.js';
import { someRun } from '../review/some-run.js';

type Changes = Parameters<typeof someRun>[0];
const unknown = { affected: null, unanswered: null };

it.each<[string, Partial<Counts>, boolean]>([
  ['whose result names everything', {}, false],
  ['without a result', { affected: null }, true],
  ['by file, without its file', { unanswered: null }, true],
  ['whose result is incomplete', { unanswered: 1 }, true],
  ['that posted bookings', { posted: 1 }, true],
  ['of an empty day', { accepted: 0, ...unknown }, false],
])('whether a run has unknown verdicts: %s', (_, counts, expected) => {
  expect(hasUnknownVerdicts(someRun({ counts }).counts)).toBe(expected);
});

it('a run that succeeded is called sent unless all its verdicts come by e-mail', () => {
  const names = runStates.map((state) => nameState(someRun({ state, counts: unknown })));
  expect(names).toEqual(runStates.map((state) => (state === 'succeeded' ? 'sent' : state)));
  for (const counts of [{}, { ...unknown, accepted: 0 }])
    expect(nameState(someRun({ counts }))).toBe('succeeded');
});

it('the state of a run is green only if it succeeded and is good', () => {
  const paint: Paint = (colour, text) => `${colour} ${text}`;
  const painted = (isGood: boolean) =>
    runStates.map((state) => paintState(paint, someRun({ state }), isGood, state));
  const others = ['blue collecting', 'blue delivering', 'yellow awaiting-result'];
  expect(painted(true)).toEqual([...others, 'green succeeded', 'red failed', 'gray cancelled']);
  expect(painted(false)).toEqual([...others, 'succeeded', 'red failed', 'gray cancelled']);
});

describe('how many bookings are affected', () => {
  it.each<[number | Unknown, Changes]>([
    [0, {}],
    [2, { state: 'failed', counts: { affected: 2, accepted: 0 } }],
    ['-', { state: 'delivering', counts: { accepted: 0, affected: null } }],
    ['-', { state: 'failed', counts: { delivered: 0, affected: null } }],
    ['by e-mail', { counts: { affected: null } }],
    ['no result', { delivery: 'file', counts: { affected: null } }],
    ['by e-mail', { delivery: 'file', counts: { posted: 990, affected: null } }],
  ])('is %j', (expected, changes) => {
    expect(countAffected(someRun(changes))).toBe(expected);
  });

  it('is summed as far as it is known, and shown with its thousands', () => {
    expect([[], [null], [null, 0], [1, null, 2]].map(sumKnown)).toEqual([null, null, 0, 3]);
    expect([1_000, 'no result'].map(formatKnown)).toEqual(['1,000', 'no result']);
  });
});

describe('the counts of a run', () => {
  const list = (changes: Changes, suspects?: number) =>
    listCounts(someRun(changes), suspects)
      .map(({ name, count }) => `${name} ${count}`)
      .join(', ');
  const collected = 'read 1000, accepted 990, duplicates 7, rejected 3';
  const delivered = 'delivered 990, pending 0, refused 0, repeated 0';

  it.each<[string, Changes, number | undefined, string]>([
    ['known', {}, 0, `${collected}, ${delivered}, unanswered 0, affected 0, suspects 0`],
    [
      'of a file with rare ones',
      { delivery: 'file', counts: { filtered: 1, carried: 2, posted: 3, affected: null, unanswered: 4 } },
      undefined,
      `${collected.replace(', rej', ', filtered 1, rej')}, ${delivered}, carried 2, posted 3, unanswered 4, affected no result, suspects not compared`,
    ],
    [
      'by body',
      { counts: unknown },
      5,
      `${collected}, ${delivered}, unanswered by e-mail, affected by e-mail, suspects 5`,
    ],
    [
      'of what was not sent',
      { state: 'failed', counts: { affected: null, unanswered: 9, delivered: 0 } },
      5,
      `${collected}, ${delivered.replace('990', '0')}, unanswered -, affected -, suspects 5`,
    ],
  ])('say in words what is not known: %s', (_, changes, suspects, expected) => {
    expect(list(changes, suspects)).toBe(expected);
  });
});
