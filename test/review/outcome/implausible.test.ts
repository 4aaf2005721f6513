import { describe, expect, it } from 'vitest';
import { findImplausible, judgeAffected } from '../../../src/review/perform/settle.js';
import type { Trigger } from '../../../src/rules/run.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const outcome = {
  ...{ accepted: 200, posted: 0, affected: 0, unanswered: 0 },
  ...{ delivered: 200, refused: 0, pending: 0, suspects: null, senders: [] },
};

describe('the affected bookings of a day', () => {
  it.each([
    ['as usual', { affected: 1 }, undefined],
    ['few of a small day', { accepted: 20, affected: 19 }, undefined],
    ['all of a small day', { accepted: 20, affected: 20 }, { affected: 20, judged: 20 }],
    ['many', { affected: 30 }, { affected: 30, judged: 200 }],
    ['just as many as may be', { accepted: 400, affected: 20 }, undefined],
    ['one more than may be', { accepted: 400, affected: 21 }, { affected: 21, judged: 400 }],
    [
      'few of all, but many of those with a verdict',
      { accepted: 1_000, posted: 500, unanswered: 100, affected: 21 },
      { affected: 21, judged: 400 },
    ],
    ['unknown', { affected: null, unanswered: null }, undefined],
    ['fewer than 20, all of them', { accepted: 19, affected: 19 }, undefined],
  ])('%s', (_, changes, expected) => {
    expect(judgeAffected({ ...outcome, ...changes }, 0.05)).toEqual(expected);
  });
});

describe('a run that is about to succeed', () => {
  it.each<[string, Trigger, number, object | undefined]>([
    ['many affected bookings', 'schedule', 20, { affected: 20, judged: 30 }],
    ['few of them', 'schedule', 19, undefined],
    ['many of them while its day is not over', 'today', 20, undefined],
  ])('with %s', async (_, trigger, affected, expected) => {
    const counts = { accepted: 30, delivered: 30, affected };
    const run = someRun({ trigger, delivery: 'file', counts });
    const ledger = fakeLedger({ runs: { list: async ({ day }) => (day === run.day ? [run] : []) } });
    expect(await findImplausible(ledger, run, 0.05)).toEqual(expected);
  });
});
