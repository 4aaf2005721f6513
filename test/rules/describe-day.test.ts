import { describe, expect, it } from 'vitest';
import { describeCanary } from '../../src/review/canary.js';
import type { CanaryState } from '../../src/rules/canary.js';
import { describeDay, describeRun, type Judgement } from '../../src/rules/describe-day.js';
import type { Counts, Run, RunState } from '../../src/rules/run.js';
import { someRun } from '../review/some-run.js';
import { failureOf, runOf } from '../schedule/ledger-days.js';
import { outcomeOf } from './some-outcome.js';

const day = '2026-11-20';
const afterTheDay = new Date('2026-11-21T02:30:00Z');
const nothing = { duplicates: 0, rejected: 0, filtered: 0, carried: 0, refused: 0, pending: 0, repeated: 0 };
const ten: Counts = {
  ...nothing,
  read: 10,
  accepted: 10,
  delivered: 10,
  posted: 0,
  affected: null,
  unanswered: null,
};
const judged = { affected: 0, unanswered: 0, unclear: 0, malformed: 0 };
const timezone = 'Europe/Madrid';

const runIn = (state: RunState, { counts, ...changes }: Changes = {}) =>
  runOf(day, state, afterTheDay, { counts: { ...ten, ...counts }, ...changes });
type Changes = Partial<Omit<Run, 'counts'>> & { readonly counts?: Partial<Counts> };

const whole: Changes = {
  delivery: 'file',
  file: { rows: 10, verdicts: judged },
  counts: { affected: 0, unanswered: 0 },
};

describe('the judgement on a day', () => {
  it.each<[Judgement, string | RegExp, RunState, Changes]>([
    ['good', 'All 10 bookings have the verdict correct.', 'succeeded', whole],
    ['unfinished', /./, 'succeeded', { ...whole, startedAt: 0, collectStartedAt: 0 }],
    ['sent', /./, 'succeeded', { ...whole, counts: { ...whole.counts, posted: 1 } }],
    [
      'unfinished',
      'The day is not complete: the end-of-day hook expected 12 records, and the source held 10.',
      'succeeded',
      { expected: 12, collectedAt: 1 },
    ],
    ['attention', /./, 'cancelled', {}],
    ['attention', 'The run failed. What happened.', 'failed', { failure: failureOf('fatal') }],
    [
      'unfinished',
      'Delivered; the result has not arrived yet.',
      'awaiting-result',
      { delivery: 'file', file: { rows: 10 } },
    ],
    ['unfinished', /./, 'delivering', {}],
  ])('is %s, and says: %s', (judgement, words, state, changes) => {
    const described = describeDay(outcomeOf([runIn(state, changes)]), { timezone });
    expect(described.judgement).toBe(judgement);
    expect(described.headline).toMatch(words);
  });

  it('needs attention where nothing was reviewed', () => {
    expect(describeDay(outcomeOf([]), { timezone }).judgement).toBe('attention');
  });

  it('needs attention if nothing named the canary in time, however well it looks otherwise', () => {
    const about = { reference: 'C-1', runId: 'r1', day, sentAt: null, namedBy: null };
    const dates = { dueAt: '2026-11-21T14:30:00Z', namedAt: '2026-11-21T03:30:00Z' };
    const judgeWith = (state: CanaryState) => {
      const canary = describeCanary({ ...about, ...dates, state }, timezone);
      return describeDay(outcomeOf([runIn('succeeded', whole)]), { timezone, canary }).judgement;
    };
    expect((['missed', 'waiting', 'named'] as const).map(judgeWith)).toEqual(['attention', 'good', 'good']);
  });

  it('of a newer run that failed takes precedence over the result of an older one', () => {
    const newer = runIn('failed', { id: 'r2', failure: failureOf('retryable') });
    const outcome = outcomeOf([newer, runIn('succeeded', whole)]);
    expect(describeDay(outcome, { timezone }).judgement).toBe('attention');
  });
});

describe('the description of a run', () => {
  const codes = (of: Run, isGoodNow = false) =>
    describeRun(of, { timezone, isGoodNow }).findings.map(({ code, level }) => `${code} ${level}`);

  it('has the findings of its day, and what only concerns the run', () => {
    const verdicts = { affected: 1, unanswered: 1, unclear: 0, malformed: 1, ignored: 1 };
    const file = { rows: 990, verdicts, laterResults: ['later.csv'] };
    const counts = { refused: 1, posted: 2, affected: 1, unanswered: 1 };
    const of = someRun({ delivery: 'file', topsUp: true, reason: 'again', suspects: 3, file, counts });
    expect(codes(of)).toEqual([
      ...['late note', 'reason note', 'affected attention', 'unanswered attention', 'refused attention'],
      ...['posted note', 'suspects note', 'result warning', 'result warning', 'result note'],
    ]);
    for (const { words, advice = [] } of describeRun(of, { timezone }).findings)
      expect([words, ...advice.map(([when]) => when)].join()).not.toMatch(/\.$|`/);
  });

  it('has a state beside its findings only where that is true of them', () => {
    const states: [Parameters<typeof someRun>[0], Judgement, string | undefined][] = [
      [{}, 'good', 'All 990 bookings have the verdict correct.'],
      [{ counts: { refused: 1 } }, 'attention', undefined],
      [{ expected: 1 }, 'unfinished', undefined],
      [{ state: 'delivering', counts: { refused: 1 } }, 'attention', 'The run is delivering.'],
      [
        { topsUp: true, counts: { accepted: 0, delivered: 0 } },
        'sent',
        'Nothing new since the run before: nothing was sent.',
      ],
    ];
    for (const [changes, judgement, words] of states) {
      const { state, ...described } = describeRun(someRun(changes), { timezone });
      expect([described.judgement, state?.words]).toEqual([judgement, words]);
    }
  });

  it('leaves nothing to do about a run whose day is good now', () => {
    const volume = { accepted: 9, usual: 99, drops: [{ provider: null, accepted: 9, usual: 99 }] };
    expect(codes(someRun({ volume }))).toEqual(['volume attention']);
    expect(codes(someRun({ volume }), true)).toEqual(['volume note', 'repaired note']);
    const failed = describeRun(someRun({ state: 'failed' }), { timezone, isGoodNow: true });
    expect(failed.state?.advice).toEqual([]);
    expect(describeRun(someRun({ state: 'failed' }), { timezone }).state?.advice).toHaveLength(1);
  });
});
