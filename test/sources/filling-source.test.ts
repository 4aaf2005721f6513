import { describe, expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { CopiedMapping, ProviderHotel } from '../../src/mappings/mapping-copy.js';
import type { SourceChunk, SourceRecord } from '../../src/review/source.js';
import { createFillingSource } from '../../src/sources/filling-source.js';
import { createArraySource, type Script } from '../review/array-source.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const hotel = { ProviderName: 'hotelbeds', ProviderHotelId: '00123' };

/** Reads a source with a copy that has `00123` and every longer id, and returns the lookups, too. */
async function fill(script: Script) {
  const asked: (readonly ProviderHotel[])[] = [];
  const lookUp = async (hotels: readonly ProviderHotel[]) => {
    asked.push(hotels);
    return hotels.map(({ providerHotelId }) => {
      if (providerHotelId === 'deleted') return { movedAt: 1 } as CopiedMapping;
      return providerHotelId.length >= 5 ? ({ serviceId: 700 } as CopiedMapping) : undefined;
    });
  };
  const source = createFillingSource(createArraySource(script), { lookUp });
  const chunks: SourceChunk[] = [];
  for await (const chunk of source.read(day, { signal: new AbortController().signal })) chunks.push(chunk);
  return { chunks, asked, records: chunks.flatMap(({ records }) => records) };
}

const recordOf = (fields: RawBooking, place = 1): SourceRecord => ({ place, fields });

describe('a source whose missing ServiceIds are filled in', () => {
  it.each([undefined, null, '', ' \u3000', 'null', 'NONE', 'NaN'])(
    'treats %j as missing',
    async (ServiceId) => {
      const { records } = await fill([[recordOf({ ...hotel, ServiceId })]]);
      expect(records).toEqual([{ place: 1, fields: { ...hotel, ServiceId: 700 }, isFilledIn: true }]);
    },
  );

  it.each([0, '0', 'abc', -1, {}, true, '9'.repeat(20)])(
    'leaves the invalid %j unchanged',
    async (ServiceId) => {
      const given = recordOf({ ...hotel, ServiceId });
      const { records, asked } = await fill([[given]]);
      expect(records).toEqual([given]);
      expect(asked).toEqual([]);
    },
  );

  it('looks up the provider and the hotel id as they will be sent', async () => {
    const { asked } = await fill([[recordOf({ ProviderName: ' hotel\tbeds ', ProviderHotelId: 12_345 })]]);
    expect(asked).toEqual([[{ providerName: 'hotel beds', providerHotelId: '12345' }]]);
  });

  it('fills in nothing for a record with an unknown hotel, or without one', async () => {
    const given = [
      recordOf({ ...hotel, ProviderHotelId: '9' }),
      recordOf({ ...hotel, ProviderHotelId: 'deleted' }),
      recordOf({ ProviderName: 'hotelbeds' }),
      recordOf({ ProviderHotelId: '00123' }),
      recordOf({ ...hotel, ProviderName: {} }),
    ];
    expect((await fill([given])).records.slice(0, 1)).toEqual(given.slice(0, 1));
    expect((await fill([given])).records.map((record) => 'isFilledIn' in record)).toEqual(
      given.map(() => false),
    );
  });

  it('keeps the rest of a chunk in order, and looks up at most a thousand at a time', async () => {
    const cut: SourceRecord = { place: 9, unreadable: 'wrong-cell-count' };
    const given = { ...recordOf({ ...hotel, ServiceId: 5 }, 10) };
    const lacking = Array.from({ length: 1_500 }, (_, index) =>
      recordOf({ ...hotel, ProviderHotelId: `00${index + 1_000}` }, index + 20),
    );
    const progress = { done: 1, total: 2 };
    const { chunks, asked } = await fill([{ records: [cut, given, ...lacking], progress }, [given]]);
    expect(asked.map(({ length }) => length)).toEqual([1_000, 500]);
    expect(chunks).toHaveLength(2);
    expect(chunks[0]).toMatchObject({ progress });
    expect(chunks[0]?.records.slice(0, 2)).toEqual([cut, given]);
    expect(chunks[0]?.records.map(({ place }) => place)).toEqual([
      9,
      10,
      ...lacking.map(({ place }) => place),
    ]);
    expect(chunks[1]?.records).toEqual([given]);
  });
});
