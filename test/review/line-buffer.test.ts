import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineBuffer, markPlain, type TextForm } from '../../src/booking/render-line.js';
import { renderedLine } from '../support/made-bookings.js';

/** A text between `<` and `>` in which each `!` is doubled. */
const before = Buffer.from('<');
const form: TextForm = {
  plain: markPlain((character) => character !== '!'),
  escape: (text) => text.replaceAll('!', '!!'),
  after: Buffer.from('>'),
};

describe('a line buffer', () => {
  it('writes any text like Buffer does, escaped where its form requires it', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('!', 'a', '\u007f', '\u0080', '\u07ff', '\u0800', '\uffff', '😀') }),
      fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', '!') }),
    );
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const written = renderedLine((line) => {
          for (const text of texts) line.field(before, text, form);
        });
        const expected = texts.map((text) => `<${text.replaceAll('!', '!!')}>`).join('');
        expect(written).toBe(Buffer.from(expected).toString());
      }),
      { numRuns: 2_000 },
    );
  });

  it('hands over what was written, and does not touch it again', () => {
    const buffer = createLineBuffer(16);
    buffer.constant(Buffer.from('first'));
    const first = buffer.handOver();
    expect(buffer.length).toBe(0);
    buffer.constant(Buffer.from('a much longer second line'));
    expect(first.toString()).toBe('first');
    expect(buffer.handOver().toString()).toBe('a much longer second line');
  });
});
