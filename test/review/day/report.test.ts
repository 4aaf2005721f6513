import { describe, expect, it } from 'vitest';
import { runToJson } from '../../../src/review/day/report.js';
import { someRun } from '../some-run.js';

const asked = { now: Date.parse('2026-11-21T03:00:00Z'), timezone: 'Europe/Madrid' };

describe('the report of a run', () => {
  it('says whether its day is good, and what it lacks', () => {
    const notGood = [{ code: 'failed' }];
    expect(runToJson(someRun({ state: 'failed' }), asked)).toMatchObject({ isGood: false, notGood });
  });

  it('of a file run counts each row of its result that says nothing', () => {
    const verdicts = { affected: 2, unanswered: 0, unclear: 0, malformed: 1, ignored: 2 };
    expect(runToJson(someRun({ file: { rows: 9, sha256: 'ab', verdicts } }), asked).file).toMatchObject({
      ...{ rows: 9, resultRowsIgnored: 3 },
    });
  });

  it('of a stopped run counts the time until now', () => {
    const { finishedAt: _, ...unfinished } = someRun({ state: 'delivering' });
    expect(runToJson(unfinished, asked)).toMatchObject({ finishedAt: null, durationMs: 1_800_000 });
  });
});
