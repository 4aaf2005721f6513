import { describe, expect, it } from 'vitest';
import { renderVerified } from '../../src/cli/file-summary.js';
import { command } from './plain-command.js';

describe('the findings of verify', () => {
  it('are none where the archive has no files of the day', () => {
    expect(renderVerified('2026-11-20', [], command)).toBe(
      'No run of 2026-11-20 has files in the archive; only runs by file do.\n',
    );
  });

  it('are listed run by run, with differences clearly marked', () => {
    const runs = [
      { runId: 'r2', items: [{ item: '20112026.csv' }], unanswered: 0, posted: 0 },
      {
        runId: 'r1',
        items: [{ item: 'manifest.json', fault: 'is not in the archive' }, { item: '20112026_Result.csv' }],
        unanswered: 3,
        posted: 12,
      },
    ];
    expect(renderVerified('2026-11-20', runs, command)).toBe(`run r2:
  ok      20112026.csv
  Every booking of the file has a verdict.
run r1:
  DIFFERS manifest.json: is not in the archive
  ok      20112026_Result.csv
  3 bookings of the file without a verdict; to list them:
  hotel-review affected 2026-11-20 --unanswered
  12 went by body: their verdicts come by e-mail only.
`);
  });
});
