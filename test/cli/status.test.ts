import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../src/cli/run-summary.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

const style = { command, timezone: 'Europe/Madrid' };
const footer = `  undelivered: pending, refused or rejected; times in Europe/Madrid
  all about one day: hotel-review status DAY
`;

describe('the status', () => {
  it('is a line per run, with times of the account, and never 0 for what is unknown', () => {
    const runs = [
      someRun({
        state: 'awaiting-result',
        delivery: 'file',
        trigger: 'schedule',
        counts: { delivered: 1_234_567, affected: null, unanswered: 1_234_000, posted: 567 },
      }),
      someRun({ day: '2026-11-19', counts: { affected: null, unanswered: null } }),
      someRun({
        day: '2026-11-18',
        delivery: 'file',
        volume: { accepted: 990, usual: 5_000, drops: [{ provider: null, accepted: 990, usual: 5_000 }] },
        counts: { affected: 1_234 },
      }),
      someRun({
        day: '2026-11-17',
        state: 'failed',
        reason: 'the export was cut off',
        counts: { delivered: 400, pending: 589, refused: 1, affected: null },
      }),
      someRun({ day: '2026-11-16', state: 'failed', counts: { accepted: 0, delivered: 0, affected: null } }),
    ];
    const text = renderStatus(runs, style);
    expect(text).toBe(
      `  day         state      by    delivered  undelivered   affected  started
  2026-11-20  awaiting   file  1,234,567            3  no result  11-21 03:30
  2026-11-19  sent       body        990            3  by e-mail  11-21 03:30
  2026-11-18  succeeded  file        990            3      1,234  11-21 03:30
  2026-11-17  failed     body        400          593  by e-mail  11-21 03:30
  2026-11-16  failed     body          0            3          -  11-21 03:30
  2026-11-20: 1,234,000 without a verdict, 567 by e-mail only
  2026-11-18: far fewer bookings than usual, to be accepted
  2026-11-17: reason: the export was cut off
${footer}`,
    );
  });

  it('fits 80 columns in the widest case', () => {
    const counts = {
      delivered: 9_999_999,
      pending: 9_999_999,
      affected: null,
      unanswered: 9_999_999,
      posted: 1,
    };
    const runs = (['delivering', 'awaiting-result', 'succeeded'] as const).map((state) =>
      someRun({ state, delivery: 'file', topsUp: true, reason: 'again and again '.repeat(20), counts }),
    );
    for (const line of renderStatus(runs, style).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('says what a run waits for, in local time', () => {
    const run = someRun({ state: 'delivering' });
    const waiting = { step: 'batch 3', until: '2026-11-21T02:31:30.000Z', code: 'http-503' };
    const text = renderStatus([run, someRun({ id: 'other' })], {
      ...style,
      waits: new Map([[run.id, waiting]]),
    });
    expect(text).toContain(
      '  2026-11-20: waiting until 2026-11-21 03:31 for batch 3 (http-503)\n  undelivered',
    );
  });

  it('marks a run for late bookings, and explains the mark', () => {
    const runs = [
      someRun({ topsUp: true, counts: { delivered: 3 } }),
      someRun({ topsUp: true, state: 'awaiting-result', counts: { delivered: 12_345 } }),
      someRun(),
    ];
    expect(renderStatus(runs, style)).toBe(
      `  day         state        by    delivered  undelivered  affected  started
  2026-11-20  succeeded +  body          3            3         0  11-21 03:30
  2026-11-20  awaiting +   body     12,345            3         0  11-21 03:30
  2026-11-20  succeeded    body        990            3         0  11-21 03:30
  + late bookings: only what earlier runs had not delivered
${footer}`,
    );
  });

  it('notes a day that was collected before it was over, unless a later run had the whole day', () => {
    const early = someRun({ collectStartedAt: Date.parse('2026-11-20T22:59:59Z') });
    const note = '2026-11-20: collected before the day was over';
    expect(renderStatus([early], style)).toContain(note);
    expect(renderStatus([someRun({ state: 'failed' }), early], style)).toContain(note);
    expect(renderStatus([someRun({ topsUp: true }), early], style)).not.toContain(note);
  });

  it('of an empty ledger says how to start', () => {
    expect(renderStatus([], style)).toBe('No runs yet. The first one: hotel-review run\n');
  });
});
