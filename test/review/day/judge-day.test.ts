import { describe, expect, it } from 'vitest';
import type { CanaryState } from '../../../src/rules/canary.js';
import { judgeDay } from '../../../src/rules/good-day.js';
import type { Counts, Run, RunState } from '../../../src/rules/run.js';
import { failureOf, runOf } from '../../schedule/ledger-days.js';
import { outcomeOf } from '../outcome/some-outcome.js';

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

function judge(state: RunState, counts: Partial<Counts>, changes: Partial<Run> = {}) {
  const run = runOf(day, state, afterTheDay, { counts: { ...sent, ...counts }, ...changes });
  return judgeDay(outcomeOf([run]), { timezone: 'Europe/Madrid' });
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

  it('is never good where verdicts come by e-mail only', () => {
    expect(judge('succeeded', {})).toMatchObject({
      judgement: 'sent',
      headline: expect.stringContaining('by e-mail only'),
    });
  });

  it.each([
    ['3 bookings on an incorrect mapping.', { affected: 3, unanswered: 0 }, byFile({ affected: 3 })],
    ['2 bookings without a verdict.', { affected: 0, unanswered: 2 }, byFile({ unanswered: 2 })],
    ['1 booking refused by the service.', { refused: 1 }, {}],
    [
      'far fewer bookings than usual (10 bookings, usually 400): once the export is complete, `replay 2026-11-20 --late`; if it is right, `run 2026-11-20 --accept-volume`.',
      {},
      { volume: { accepted: 10, usual: 400, drops: [{ provider: null, accepted: 10, usual: 400 }] } },
    ],
    [
      'far fewer bookings than usual (Bedlink: 0, usually 40).',
      {},
      { volume: { accepted: 390, usual: 400, drops: [{ provider: 'Bedlink', accepted: 0, usual: 40 }] } },
    ],
  ] as const)('needs attention: %s', (headline, counts, changes) => {
    expect(judge('succeeded', counts, changes)).toEqual({ judgement: 'attention', headline });
  });

  it('needs none for few bookings that somebody has accepted', () => {
    const volume = { accepted: 10, usual: 400, drops: [{ provider: null, accepted: 10, usual: 400 }] };
    const accepted = { volume, acceptances: { volume: { at: 1, by: 'ada' } } };
    expect(judge('succeeded', {}, accepted).judgement).not.toBe('attention');
  });

  it('needs attention if nothing named the canary in time, however well it looks otherwise', () => {
    const run = runOf(day, 'succeeded', afterTheDay, {
      ...byFile({}),
      counts: { ...sent, affected: 0, unanswered: 0 },
    });
    const judgeWith = (canary: CanaryState) =>
      judgeDay(outcomeOf([run]), { timezone: 'UTC', canary }).judgement;
    expect(judgeWith('missed')).toBe('attention');
    expect(judgeWith('waiting')).toBe('good');
    expect(judgeWith('named')).toBe('good');
  });

  it('needs attention where nothing was reviewed', () => {
    expect(judgeDay(outcomeOf([]), { timezone: 'UTC' })).toMatchObject({
      judgement: 'attention',
    });
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
    expect(judgeDay(outcomeOf([newer, older]), { timezone: 'UTC' }).judgement).toBe('attention');
  });
});
