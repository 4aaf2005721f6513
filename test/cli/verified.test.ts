import { describe, expect, it } from 'vitest';
import { renderVerified } from '../../src/cli/verified.js';

describe('what was verified', () => {
  it('is nothing where the archive holds nothing of the day', () => {
    expect(renderVerified('2026-11-20', [])).toBe(
      'No run of 2026-11-20 has anything in the archive; only runs by file have.\n',
    );
  });

  it('is told run by run, and what differs so that nobody overlooks it', () => {
    const runs = [
      { runId: 'r2', items: [{ item: '20112026.csv' }] },
      {
        runId: 'r1',
        items: [{ item: 'manifest.json', fault: 'is not in the archive' }, { item: '20112026_Result.csv' }],
      },
    ];
    expect(renderVerified('2026-11-20', runs)).toBe(`run r2:
  ok      20112026.csv
run r1:
  DIFFERS manifest.json: is not in the archive
  ok      20112026_Result.csv
`);
  });
});
