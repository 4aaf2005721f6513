import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { renderCsv } from '../../src/base/csv-cells.js';

describe('a CSV for people', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\uff1d1', "'\uff1d1"],
    ['\t=1', "'\t'=1"],
    // A spreadsheet that separates by semicolons, or knows no quotes.
    ['a;=1', "a;'=1"],
    ['a\n =1', "a\n '=1"],
    ['"=1', '"\'=1'],
    ['A-1, B=2', 'A-1, B=2'],
    ['2026-11-20', '2026-11-20'],
    ["O'-Neill", "O'-Neill"],
  ])('disarms %j', (text, written) => {
    const [record] = parse(renderCsv(['cell'], [{ cell: text }]), { bom: true, columns: true, trim: false });
    expect(record).toEqual({ cell: written });
  });

  it('leaves numbers as they are, and is no slower for a text that is made of separators', () => {
    expect(renderCsv(['cell'], [{ cell: -1 }]).toString()).toContain('\n-1\n');
    expect(renderCsv(['cell'], [{ cell: '\t'.repeat(2_000_000) }]).length).toBeGreaterThan(2_000_000);
  });
});
