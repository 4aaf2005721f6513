import { describe, expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { describeCause, hashCells, listCells, mayHold } from '../../src/booking/record-cells.js';

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

describe('what made a record unfit to be sent', () => {
  it.each<[string, RawBooking, object]>([
    ['a ServiceId that is no number', { ServiceId: ' 12x ' }, { field: 'ServiceId', value: '12x' }],
    ['a number that is no id', { ServiceId: 1.5 }, { field: 'ServiceId', value: '1.5' }],
    ['an object', { ServiceId: { id: 5 } }, { field: 'ServiceId', value: '{"id":5}' }],
    ['control characters', { ServiceId: '1\u001b[2J\n2' }, { field: 'ServiceId', value: '1 [2J 2' }],
    ['a long value', { ServiceId: 'x'.repeat(999) }, { field: 'ServiceId', value: 'x'.repeat(200) }],
    [
      "the guest's name in the wrong column",
      { ServiceId: 'Ana Gil (2)', BookingClientName: 'Ana Gil' },
      { field: 'ServiceId' },
    ],
  ])('is shown for %s', (_, raw, cause) => {
    expect(describeCause(raw, 'ServiceId')).toEqual(cause);
  });

  it('has no value where there is none', () => {
    expect(describeCause({ ServiceId: ' ' }, 'ServiceId')).toEqual({ field: 'ServiceId' });
    expect(describeCause({}, 'ServiceId')).toEqual({ field: 'ServiceId' });
  });

  it('has no value for a number that reading has rounded: the record had another one', () => {
    const largest = Number.MAX_SAFE_INTEGER;
    for (const ServiceId of [2 * largest, -2 * largest, Number.POSITIVE_INFINITY]) {
      expect(describeCause({ ServiceId }, 'ServiceId')).toEqual({ field: 'ServiceId' });
    }
    expect(describeCause({ ServiceId: -largest }, 'ServiceId')).toEqual({
      field: 'ServiceId',
      value: String(-largest),
    });
  });

  it('has no value of a name', () => {
    const raw = { ServiceId: 7, ProviderName: true, BookingClientName: ['Ana'] };
    expect(describeCause(raw, 'ProviderName')).toEqual({ field: 'ProviderName', value: 'true' });
    expect(describeCause(raw, 'BookingClientName')).toEqual({ field: 'BookingClientName' });
  });

  it('survives values that no JSON can express', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(describeCause({ ServiceId: loop }, 'ServiceId')).toEqual({ field: 'ServiceId' });
    expect(describeCause({ ServiceId: 5n }, 'ServiceId')).toEqual({ field: 'ServiceId', value: '5' });
  });
});
