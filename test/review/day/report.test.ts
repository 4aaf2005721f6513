import { describe, expect, it } from 'vitest';
import { runToJson } from '../../../src/review/day/report.js';
import { someRun } from '../some-run.js';

const asked = { now: Date.parse('2026-11-21T03:00:00Z'), timezone: 'Europe/Madrid' };

describe('the report of a run', () => {
  it('has exactly the keys that `run --json` promises', () => {
    expect(runToJson(someRun(), asked)).toEqual({
      runId: '20261120-k3f9xq7d',
      day: '2026-11-20',
      delivery: 'body',
      trigger: 'manual',
      state: 'succeeded',
      counts: {
        read: 1_000,
        accepted: 990,
        duplicates: 7,
        rejected: 3,
        filtered: 0,
        carried: 0,
        delivered: 990,
        refused: 0,
        pending: 0,
        repeated: 0,
        posted: 0,
        affected: 0,
        unanswered: 0,
      },
      file: null,
      startedAt: '2026-11-21T02:30:00.000Z',
      finishedAt: '2026-11-21T02:30:12.300Z',
      durationMs: 12_300,
      isGood: true,
      notGood: [],
      volume: null,
    });
  });

  it('says how many bookings are usual, or that no earlier day is known', () => {
    const volume = { accepted: 990, usual: 1_000, drops: [] };
    expect(runToJson(someRun({ volume }), asked).volume).toEqual(volume);
    expect(runToJson(someRun({ volume: { ...volume, usual: null } }), asked).volume).toEqual({ usual: null });
  });

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

  it('has null, not 0, for what comes by e-mail only, and the reason of a run', () => {
    const report = runToJson(
      someRun({ reason: 'again', counts: { affected: null, unanswered: null } }),
      asked,
    );
    expect(report).toMatchObject({ reason: 'again', counts: { affected: null, unanswered: null } });
    expect(runToJson(someRun(), asked)).not.toHaveProperty('reason');
  });

  it('reports what the local copy of the mappings found, if there was one', () => {
    expect(runToJson(someRun({ suspects: 12 }), asked).suspects).toEqual({ bookings: 12 });
    expect(runToJson(someRun({ suspects: 0 }), { ...asked, listed: [] }).suspects).toEqual({
      bookings: 0,
      listed: [],
    });
    expect(runToJson(someRun(), { ...asked, listed: [] })).not.toHaveProperty('suspects');
  });

  it('of a file run states where file and evidence are', () => {
    const file = {
      rows: 990,
      bytes: 84_150,
      sha256: 'ab'.repeat(32),
      remotePath: 'VerifyMappings/112026/20112026.csv',
      triggeredAt: 7,
      result: {
        name: '20112026_Result.csv',
        size: 9,
        modifiedAt: 8,
        sha256: 'cd'.repeat(32),
        rows: 990,
        isWhole: true,
      },
      verdicts: { affected: 2, unanswered: 0, unclear: 0, malformed: 1, ignored: 2 },
      archivedTo: '/data/archive/2026-11-20/20261120-k3f9xq7d',
    };
    expect(runToJson(someRun({ delivery: 'file', file, counts: { affected: 2 } }), asked)).toMatchObject({
      delivery: 'file',
      counts: { affected: 2 },
    });
    expect(runToJson(someRun({ file }), asked).file).toEqual({
      remotePath: 'VerifyMappings/112026/20112026.csv',
      sha256: 'ab'.repeat(32),
      rows: 990,
      resultName: '20112026_Result.csv',
      archivedTo: '/data/archive/2026-11-20/20261120-k3f9xq7d',
      resultRowsIgnored: 3,
    });
  });

  it('of a file run has null for what is not yet known, and for the file if none was written', () => {
    const file = { rows: 1, sha256: 'ab' };
    expect(runToJson(someRun({ file }), asked).file).toEqual({
      remotePath: null,
      sha256: 'ab',
      rows: 1,
      resultName: null,
      archivedTo: null,
      resultRowsIgnored: null,
    });
    expect(runToJson(someRun({ file: { triggeredAt: 7 } }), asked).file).toBeNull();
    expect(runToJson(someRun({ file: { rows: 1 } }), asked).file).toBeNull();
    expect(runToJson(someRun({ file: { sha256: 'ab' } }), asked).file).toBeNull();
  });

  it('of a failed run states the reason', () => {
    const failure = { class: 'fatal', code: 'http-403', message: 'the service turned it down' } as const;
    const { error, state } = runToJson(someRun({ state: 'failed', failure }), asked);
    expect({ error, state }).toEqual({
      error: { class: 'fatal', message: 'the service turned it down' },
      state: 'failed',
    });
  });

  it('of a stopped run counts the time until now', () => {
    const { finishedAt: _, ...unfinished } = someRun({ state: 'delivering' });
    const { finishedAt, durationMs } = runToJson(unfinished, asked);
    expect({ finishedAt, durationMs }).toEqual({ finishedAt: null, durationMs: 1_800_000 });
  });
});
