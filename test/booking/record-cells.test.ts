import { describe, expect, it } from 'vitest';
import { hashCells, listCells, mayHold } from '../../src/booking/record-cells.js';

describe('the cells of a record', () => {
  it.each<[what: string, whole: unknown]>([
    ['as it is', ['7', 'BR-2', 'Ana']],
    ['as text for spreadsheets', ['="BR-2"']],
    ['in quotes', ['"BR-2"', "'7'"]],
    ['with characters that nobody sees', ['\ufeffBR\u200b-2\u00ad']],
    ['in a row that became one cell', ['7;BR-2;Ana', '', '']],
    ['in an object', { id: 7, ref: 'BR-2' }],
    ['deep in an object', { stay: [{ booking: { ids: [7, ['BR-2']] } }] }],
    ['in bytes', [new TextEncoder().encode('BR-2')]],
  ])('have a reference %s', (_, whole) => {
    const cells = listCells(whole) ?? [];
    expect([...cells]).toContain('BR-2');
    expect(mayHold(hashCells(cells), 'BR-2')).toBe(true);
    expect(mayHold(hashCells(cells), 'BR-3')).toBe(false);
  });

  it('have numbers as they are written', () => {
    const cells = listCells({ a: 1042, b: 12345678901234567890n, c: true, d: null });
    expect([...(cells ?? [])].sort()).toEqual(['1042', '12345678901234567890']);
  });

  it('end, also where a record refers to itself, and too many are not listed', () => {
    const record: Record<string, unknown> = { ref: 'BR-2' };
    record.self = record;
    expect([...(listCells(record) ?? [])]).toEqual(['BR-2']);
    const many = Array.from({ length: 2_000 }, (_, at) => `c${at}`);
    expect([listCells(many), listCells([many.join()])]).toEqual([undefined, undefined]);
  });
});
