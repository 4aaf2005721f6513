import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createPalette } from '../../src/base/colours.js';
import { renderTable } from '../../src/base/tables.js';

const terminal = Object.assign(new PassThrough(), { isTTY: true });
const mark = '1234;5678';
const { paint, show } = createPalette(terminal, {}, mark);

describe('colours', () => {
  it.each([
    ['a file', { stream: new PassThrough(), env: {} }],
    ['NO_COLOR', { stream: terminal, env: { NO_COLOR: '1' } }],
    ['a dumb terminal', { stream: terminal, env: { TERM: 'dumb' } }],
  ])('are left out for %s', (_what, { stream, env }) => {
    const palette = createPalette(stream, env, mark);
    expect(palette.show(palette.paint('red', 'failed'))).toBe('failed');
  });

  it('are used on a terminal, even if NO_COLOR is empty', () => {
    expect(show(paint('red', 'failed'))).toBe('\u001B[31mfailed\u001B[39m');
    const { paint: used } = createPalette(terminal, { NO_COLOR: '' }, mark);
    expect(used('red', 'failed')).toContain('\u001B');
  });

  it('are not taken from untrusted text, which does not know the mark', () => {
    const forged = `\u001B[32mfine\u001B[32;1111;2222m`;
    expect(show(forged + paint('red', 'failed'))).toBe(
      '\\u001b[32mfine\\u001b[32;1111;2222m\u001B[31mfailed\u001B[39m',
    );
    expect(show(renderTable([[forged]]))).toBe('  \\u001b[32mfine\\u001b[32;1111;2222m');
  });
});

it('a table has aligned columns, however wide its characters are and whatever their colour, right-aligned numbers, and no trailing blanks', () => {
  const rows = [
    [paint('green', 'read'), '1,234,567', 'first'],
    ['宿泊予約', 9, undefined],
  ];
  const coloured = show(renderTable(rows));
  expect(coloured).toContain('\u001B');
  expect(stripVTControlCharacters(coloured)).toBe('  read      1,234,567  first\n  宿泊予約          9');
});
