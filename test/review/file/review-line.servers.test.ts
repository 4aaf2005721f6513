import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderReviewHeader } from '../../../src/booking/stored-line.js';
import { anyFileBooking, cellsOf, fileOf, masterIdColumn } from './file-bookings.js';

describe('a line of the review file', () => {
  it('is read by Python as the same booking', ({ skip }) => {
    const python = findPython();
    if (python === undefined) return skip('needs python3 on the PATH');
    const bookings = fc.sample(anyFileBooking, 500);
    const script =
      'import csv,io,json,sys;print(json.dumps(list(csv.reader(io.TextIOWrapper(sys.stdin.buffer,"utf-8",newline=""),strict=True))))';
    const rows: unknown = JSON.parse(
      execFileSync(python, ['-c', script], { input: fileOf(bookings), encoding: 'utf8', maxBuffer: 2 ** 26 }),
    );
    expect(rows).toEqual([renderReviewHeader(masterIdColumn).split(','), ...bookings.map(cellsOf)]);
  });
});

function findPython(): string | undefined {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return 'python3';
  } catch {
    return undefined;
  }
}
