import { describe, expect, it } from 'vitest';
import { makeVisible, print, showInCell, showInLine } from '../../src/base/foreign-text.js';

/** Every code of C0, DEL, C1, line separators, bidi embeddings, overrides and isolates. */
const active = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
].flatMap(([from = 0, to = 0]) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)),
);

describe('a text that is printed', () => {
  it.each(active.filter((character) => character !== '\n' && character !== '\t'))(
    'shows %j as a JSON escape',
    (character) => {
      const shown = makeVisible(`a${character}b`);
      expect(shown).toMatch(/^a\\u[0-9a-f]{4}b$/);
      expect(JSON.parse(`"${shown}"`)).toBe(`a${character}b`);
      expect(showInLine(character)).toBe(shown.slice(1, -1));
      expect(showInCell(character)).toBe(shown.slice(1, -1));
    },
  );

  it('keeps its own lines and indents, but none within a line', () => {
    expect(makeVisible('a\n\tb')).toBe('a\n\tb');
    for (const show of [showInLine, showInCell]) expect(show('a\n\tb')).toBe('a\\u000a\\u0009b');
  });

  it('leaves every other text as it is', () => {
    const text = 'Hôtel „Žižek“ 宿泊 فندق \u200d👨‍👩‍👧 \u{10ffff} \\u001b';
    expect(makeVisible(text)).toBe(text);
    expect(showInCell(text)).toBe(text);
  });

  it('reaches the stream only in this form', () => {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text) < 1 };
    expect(print(stream, 'a\u001b[2J\n')).toBe(false);
    expect(written).toEqual(['a\\u001b[2J\n']);
  });
});
