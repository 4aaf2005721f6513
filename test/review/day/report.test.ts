import { describe, expect, it } from 'vitest';
import { runToJson } from '../../../src/review/day/report.js';
import { someRun } from '../some-run.js';

const asked = { now: Date.parse('2026-11-21T03:00:00Z'), timezone: 'Europe/Madrid' };

describe('the report of a run', () => {
  it('says what its day lacks, and who accepted that', () => {
    const drop = { code: 'volume-dropped', accepted: 200, usual: 420 };
    const volume = { accepted: 200, usual: 420, drops: [{ provider: null, accepted: 200, usual: 420 }] };
    expect(runToJson(someRun({ volume }), asked)).toMatchObject({
      isGood: false,
      notGood: [{ ...drop, acceptedAt: null, acceptedBy: null }],
      volume,
    });
    const acceptances = { volume: { at: asked.now, by: 'ada' } };
    expect(runToJson(someRun({ volume, acceptances }), asked)).toMatchObject({
      isGood: true,
      notGood: [{ ...drop, acceptedAt: '2026-11-21T03:00:00.000Z', acceptedBy: 'ada' }],
    });
    const implausible = { affected: 30, judged: 200 };
    const many = { code: 'affected-implausible', ...implausible, share: 0.15 };
    expect(runToJson(someRun({ volume, implausible, acceptances }), asked)).toMatchObject({
      isGood: false,
      notGood: [{ code: 'volume-dropped' }, { ...many, acceptedAt: null, acceptedBy: null }],
    });
    const ofProvider = { ...volume, drops: [{ provider: 'Bedlink', accepted: 0, usual: 60 }] };
    expect(runToJson(someRun({ volume: ofProvider }), asked)).toMatchObject({ isGood: true, notGood: [] });
    const early = someRun({ state: 'failed', trigger: 'today', volume });
    expect(runToJson(early, asked).notGood.map(({ code }) => code)).toEqual([
      'failed',
      'day-not-over',
      'volume-dropped',
    ]);
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
