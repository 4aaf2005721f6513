import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../src/cli/run-summary.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

describe('the status', () => {
  it('is a line per run', () => {
    const runs = [
      someRun({
        state: 'awaiting-result',
        delivery: 'file',
        trigger: 'schedule',
        counts: { delivered: 1_234_567 },
      }),
      someRun({ day: '2026-11-19', state: 'failed', counts: { delivered: 400, pending: 589, refused: 1 } }),
    ];
    expect(renderStatus(runs, command)).toBe(
      `  day         state            delivered  pending  refused  rejected  started
  2026-11-20  awaiting-result  1,234,567        0        0         3  2026-11-21 02:30:00Z
  2026-11-19  failed                 400      589        1         3  2026-11-21 02:30:00Z
`,
    );
  });

  it('marks a run for late bookings, and explains the mark', () => {
    const runs = [
      someRun({ topsUp: true, counts: { delivered: 3 } }),
      someRun({ topsUp: true, state: 'awaiting-result', counts: { delivered: 12_345 } }),
      someRun(),
    ];
    expect(renderStatus(runs, command)).toBe(
      `  day         state              delivered  pending  refused  rejected  started
  2026-11-20  succeeded +                3        0        0         3  2026-11-21 02:30:00Z
  2026-11-20  awaiting-result +     12,345        0        0         3  2026-11-21 02:30:00Z
  2026-11-20  succeeded                990        0        0         3  2026-11-21 02:30:00Z
  + late bookings: only what earlier runs had not delivered
`,
    );
  });

  it('of an empty ledger says how to start', () => {
    expect(renderStatus([], command)).toBe('No runs yet. The first one: hotel-review run\n');
  });
});
