import { describe, expect, it } from 'vitest';
import { collapseRuns, hasNews } from '../../../src/review/day/collapse-runs.js';
import { decideOpening } from '../../../src/review/day/open-run.js';
import { holdKeyOf } from '../../../src/review/day-runs.js';
import { activeRunStates, type Run } from '../../../src/review/run.js';
import { day } from '../late-days.js';
import { someRun } from '../some-run.js';

const ofWatch = (changes: Partial<Run> = {}) => someRun({ trigger: 'watch', ...changes } as Partial<Run>);

describe('a run with trigger `watch`', () => {
  const open = (run: Run | undefined) => decideOpening(run, { mode: 'watch', day });

  it('goes by body, whatever the state of the day', () => {
    expect(open(undefined)).toEqual({ kind: 'new', delivery: 'body' });
  });

  it('is resumed while it is unfinished, unless a person cancelled it', () => {
    for (const state of [...activeRunStates, 'failed'] as const) {
      const run = ofWatch({ state });
      expect(open(run)).toEqual({ kind: 'resume', run });
    }
    for (const run of [ofWatch(), ofWatch({ state: 'cancelled', cancelReason: 'a test' })])
      expect(open(run)).toEqual({ kind: 'already-done', run });
  });

  it('excludes other watch runs, of any day, and no run of the day itself', () => {
    expect(holdKeyOf(ofWatch())).toBe(holdKeyOf(ofWatch({ day: '2026-11-01' })));
    expect(holdKeyOf(someRun())).toBe(someRun().day);
    expect(holdKeyOf(ofWatch())).not.toBe(someRun().day);
  });

  it('is listed once a day, and not at all if it had nothing to send', () => {
    const counts = { read: 0, accepted: 0, delivered: 0, refused: 0, pending: 0 };
    const runs = [
      ofWatch({ id: 'w2' }),
      ofWatch({ id: 'w1', counts } as Partial<Run>),
      someRun({ id: 'night' }),
    ];
    expect(runs.map(hasNews)).toEqual([true, false, true]);
    expect(collapseRuns(runs).map(({ id }) => id)).toEqual(['w2', 'night']);
  });
});
