import { describe, expect, it } from 'vitest';
import { describeCanary } from '../../../src/review/canary.js';
import type { CanaryState } from '../../../src/rules/canary.js';
import { describeDay, describeRun, type Judgement } from '../../../src/rules/describe-day.js';
import type { Counts, Run, RunState } from '../../../src/rules/run.js';
import { failureOf, runOf } from '../../schedule/ledger-days.js';
import { outcomeOf } from '../outcome/some-outcome.js';
import { someRun } from '../some-run.js';

const day = '2026-11-20';
const afterTheDay = new Date('2026-11-21T02:30:00Z');
const sent: Counts = {
  ...{
    read: 10,
    accepted: 10,
    duplicates: 0,
    rejected: 0,
    filtered: 0,
    carried: 0,
    delivered: 10,
    refused: 0,
    pending: 0,
  },
  ...{ repeated: 0, posted: 0, affected: null, unanswered: null },
};
const judged = { affected: 0, unanswered: 0, unclear: 0, malformed: 0 };

const timezone = 'Europe/Madrid';

/** The day of one run, in a judgement and a sentence. */
function judge(state: RunState, counts: Partial<Counts>, changes: Partial<Run> = {}) {
  const run = runOf(day, state, afterTheDay, { counts: { ...sent, ...counts }, ...changes });
  const { judgement, headline } = describeDay(outcomeOf([run]), { timezone });
  return { judgement, headline };
}

const byFile = (verdicts: Partial<typeof judged>): Partial<Run> => ({
  delivery: 'file',
  file: { rows: 10, verdicts: { ...judged, ...verdicts } },
});

describe('the judgement on a day', () => {
  it('is good only if each booking of a complete day has the verdict correct', () => {
    const counts = { affected: 0, unanswered: 0 };
    expect(judge('succeeded', counts, byFile({}))).toEqual({
      judgement: 'good',
      headline: 'All 10 bookings have the verdict correct.',
    });
    expect(judge('succeeded', counts, { ...byFile({}), startedAt: 0, collectStartedAt: 0 }).judgement).toBe(
      'unfinished',
    );
    expect(judge('succeeded', { ...counts, posted: 1 }, byFile({})).judgement).toBe('sent');
  });

  it('is unfinished with another number of records than the hook expected, and says so', () => {
    expect(judge('succeeded', {}, { expected: 12, collectedAt: 1 })).toEqual({
      judgement: 'unfinished',
      headline: 'The day is not complete: the end-of-day hook expected 12 records, and the source held 10.',
    });
  });

  it('needs attention if nothing named the canary in time, however well it looks otherwise', () => {
    const run = runOf(day, 'succeeded', afterTheDay, {
      ...byFile({}),
      counts: { ...sent, affected: 0, unanswered: 0 },
    });
    const about = { reference: 'C-1', runId: 'r1', day, sentAt: null, dueAt: null, namedAt: null };
    const judgeWith = (state: CanaryState) => {
      const dates = { dueAt: '2026-11-21T14:30:00Z', namedAt: '2026-11-21T03:30:00Z' };
      const canary = describeCanary({ ...about, ...dates, state, namedBy: null }, timezone);
      return describeDay(outcomeOf([run]), { timezone, canary }).judgement;
    };
    expect(judgeWith('missed')).toBe('attention');
    expect(judgeWith('waiting')).toBe('good');
    expect(judgeWith('named')).toBe('good');
  });

  it('needs attention where nothing was reviewed', () => {
    expect(describeDay(outcomeOf([]), { timezone }).judgement).toBe('attention');
    expect(judge('cancelled', {})).toMatchObject({ judgement: 'attention' });
    expect(judge('failed', {}, { failure: failureOf('fatal') })).toEqual({
      judgement: 'attention',
      headline: 'The run failed. What happened.',
    });
  });

  it('is unfinished while the result is awaited, whatever was sent', () => {
    expect(judge('awaiting-result', {}, { delivery: 'file', file: { rows: 10 } })).toEqual({
      judgement: 'unfinished',
      headline: 'Delivered; the result has not arrived yet.',
    });
    expect(judge('delivering', {}).judgement).toBe('unfinished');
  });

  it('of a newer run that failed takes precedence over the result of an older one', () => {
    const older = runOf(day, 'succeeded', afterTheDay, {
      counts: { ...sent, affected: 0, unanswered: 0 },
      ...byFile({}),
    });
    const newer = runOf(day, 'failed', afterTheDay, {
      id: 'r2',
      counts: sent,
      failure: failureOf('retryable'),
    });
    expect(describeDay(outcomeOf([newer, older]), { timezone }).judgement).toBe('attention');
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
