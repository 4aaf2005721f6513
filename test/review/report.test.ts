import { describe, expect, it } from 'vitest';
import { toReport } from '../../src/review/report.js';
import { someRun } from './some-run.js';

const now = Date.parse('2026-11-21T03:00:00Z');

describe('the report of a run', () => {
  it('holds exactly what `run --json` promises', () => {
    expect(toReport(someRun(), now)).toEqual({
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
        delivered: 990,
        refused: 0,
        pending: 0,
        repeated: 0,
        affected: 0,
      },
      file: null,
      startedAt: '2026-11-21T02:30:00.000Z',
      finishedAt: '2026-11-21T02:30:12.300Z',
      durationMs: 12_300,
    });
  });

  it('of a failed run says why', () => {
    const failure = { class: 'fatal', code: 'http-403', message: 'the service turned it down' } as const;
    const { error, state } = toReport(someRun({ state: 'failed', failure }), now);
    expect({ error, state }).toEqual({
      error: { class: 'fatal', message: 'the service turned it down' },
      state: 'failed',
    });
  });

  it('of a run that was stopped counts the time until now', () => {
    const { finishedAt: _, ...unfinished } = someRun({ state: 'delivering' });
    const { finishedAt, durationMs } = toReport(unfinished, now);
    expect({ finishedAt, durationMs }).toEqual({ finishedAt: null, durationMs: 1_800_000 });
  });
});
