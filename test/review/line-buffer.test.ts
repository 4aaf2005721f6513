import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeCell } from '../../src/base/csv-cells.js';
import { createLineBuffer } from '../../src/booking/render-line.js';
import { renderedLine } from '../support/made-bookings.js';

describe('a line buffer', () => {
  it('writes any cell like Buffer does, in quotes where it needs them', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('"', ',', 'a', '\u007f', '\u0080', '\u07ff', '\u0800', '\uffff', '😀'),
      }),
      fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', '"') }),
    );
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const written = renderedLine((line) => {
          for (const text of texts) line.cell(text);
        });
        const expected = texts.map((text) => `,${writeCell(text)}`).join('');
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
