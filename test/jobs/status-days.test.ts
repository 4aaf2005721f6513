import { describe, expect, it } from 'vitest';
import { renderDays, type StatusDay } from '../../jobs/status.js';
import { groupByDay, type Run } from '../../src/ledger/run.js';
import { noColours } from '../../src/text/colours.js';
import { someRun } from '../review/some-run.js';
import { command } from '../support/plain-command.js';

const style = { command, paint: noColours, timezone: 'Europe/Madrid', waits: new Map() };
const footer = `  undelivered: pending, refused or rejected; times in Europe/Madrid
  all about one day: hotel-review status DAY`;

function renderStatus(runs: readonly Run[], options: Parameters<typeof renderDays>[1] = style): string {
  const days = [...groupByDay(runs)].map(([day, ofDay]) => ({ day, runs: ofDay }));
  return renderDays(days, options).join('\n');
}

describe('the status', () => {
  it('is a line per run, and never 0 for what is unknown', () => {
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
      `  day         run                state      delivered  undelivered   affected
  2026-11-20  20261120-k3f9xq7d  awaiting   1,234,567            3  no result
  2026-11-19  20261120-k3f9xq7d  sent             990            3  by e-mail
  2026-11-18  20261120-k3f9xq7d  succeeded        990            3      1,234
  2026-11-17  20261120-k3f9xq7d  failed           400          593  by e-mail
  2026-11-16  20261120-k3f9xq7d  failed             0            3          -
  2026-11-20: 1,234,000 without a verdict, 567 by e-mail only
  2026-11-18: far fewer bookings than usual, to be accepted
  2026-11-17: reason: the export was cut off
${footer}`,
    );
  });

  it('says that a day is good now after a run that was not', () => {
    const volume = { accepted: 9, usual: 99, drops: [{ provider: null, accepted: 9, usual: 99 }] };
    const [late, first] = [
      { ...someRun({ topsUp: true }), id: 'late' },
      { ...someRun({ volume }), id: 'first' },
    ];
    expect(renderStatus([late, first])).toContain(
      '\n  2026-11-20: far fewer bookings than usual, now good\n',
    );
    expect(renderStatus([first])).not.toContain('now good');
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
      waits: new Map([[run.id, { waiting }]]),
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
    expect(renderStatus(runs)).toBe(
      `  day         run                state        delivered  undelivered  affected
  2026-11-20  20261120-k3f9xq7d  succeeded +          3            3         0
  2026-11-20  20261120-k3f9xq7d  awaiting +      12,345            3         0
  2026-11-20  20261120-k3f9xq7d  succeeded          990            3         0
  + late bookings: only what earlier runs had not delivered
${footer}`,
    );
  });

  it('has a line for each day without a run, and of a long time without one only its ends', () => {
    const gap = (first: number, days: number): StatusDay[] =>
      Array.from({ length: days }, (_, index) => ({
        day: new Date(Date.UTC(2026, 10, first - index)).toISOString().slice(0, 10),
        runs: [],
      }));
    const run = { day: '2026-11-20', runs: [someRun()] };
    const lines = renderDays([...gap(22, 2), run, ...gap(19, 32)], style)
      .join('\n')
      .split('\n')
      .slice(1, 7);
    expect(lines.map((line) => line.trim().split(/ {2,}/).slice(0, 2))).toEqual([
      ['2026-11-22', 'no run'],
      ['2026-11-21', 'no run'],
      ['2026-11-20', '20261120-k3f9xq7d'],
      ['2026-11-19', 'no run'],
      ['…', 'no run (32 days)'],
      ['2026-10-19', 'no run'],
    ]);
  });

  it('notes a day that was collected before it was over, unless a later run had the whole day', () => {
    const early = someRun({ collectStartedAt: Date.parse('2026-11-20T22:59:59Z') });
    const note = '2026-11-20: collected before the day was over';
    expect(renderStatus([early])).toContain(note);
    expect(renderStatus([someRun({ state: 'failed' }), early])).toContain(note);
    expect(renderStatus([someRun({ topsUp: true }), early])).not.toContain(note);
  });
});
