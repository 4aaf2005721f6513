import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/base/tables.js';

describe('a table', () => {
  it('has aligned columns, right-aligned numbers, and no trailing blanks', () => {
    expect(
      renderTable([
        ['read', '1,234,567', 'first'],
        ['duplicates', 9, undefined],
      ]),
    ).toBe('  read        1,234,567  first\n  duplicates          9');
  });

  it('aligns wide characters', () => {
    expect(
      renderTable([
        ['宿泊予約', 'a'],
        ['BR-1', 'b'],
      ]),
    ).toBe('  宿泊予約  a\n  BR-1      b');
  });
});
