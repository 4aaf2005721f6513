import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SourceChunk } from '../../../src/booking/source.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { readNdjson, summarise } from '../reading.js';

describe('an NDJSON file as programs write them', () => {
  it('may lack the last line end, and have a byte order mark, CRLF, white space and blank lines', async () => {
    const content =
      '\uFEFF\n{"ServiceId":5}\r\n\r\n { "ServiceId" : 6 } \r\n \t\r\n\t{"ServiceId"\t:\r7}\n  ';
    expect(summarise((await readNdjson(content)).records)).toEqual(['2:5', '4:6', '6:7']);
  });

  it('of blank lines only is a day without bookings, and has no absent columns', async () => {
    for (const content of ['\n', '\uFEFF\n', '  ', gzipSync('\n')])
      expect(await readNdjson(content)).toEqual({ chunks: [], records: [], notices: [] });
  });

  it('keeps values as they are, and nothing else: escapes, lone surrogates, null words, lists', async () => {
    const { records } = await readNdjson(
      `{"ServiceId":"007","BookingReferenceId":"\\ufeffx\uFEFF","BookingClientName":"\\ud800 \\"\\u00e9é\\\\","ProviderName":"NULL","ProviderHotelId":1250,"CheckInDate":[{"a":true}],"CheckOutDate":null,"x":1}\n`,
    );
    const fields = {
      ServiceId: '007',
      BookingReferenceId: '\uFEFFx\uFEFF',
      BookingClientName: '\ud800 "éé\\',
      ProviderName: 'NULL',
      ProviderHotelId: 1250,
      CheckInDate: [{ a: true }],
      CheckOutDate: null,
    };
    expect(records).toEqual([{ place: 1, fields }]);
  });
});

describe('the members of the objects', () => {
  it('are found by the configured names, exactly, in any order', async () => {
    const { records } = await readNdjson(
      '{"hotel":"5","ServiceId":9,"Gast\\u0020Name":"Ann"}\n{"Gast Name":"Bea","servicehotel":1,"hotel":6}\n',
      { columns: { ServiceId: 'hotel', BookingClientName: 'Gast Name' } },
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: '5', BookingClientName: 'Ann' } },
      { fields: { ServiceId: 6, BookingClientName: 'Bea' } },
    ]);
  });

  it('may be in nested objects, by a path with dots, unless the exact name is there', async () => {
    const { records } = await readNdjson(
      [
        '{"hotel":{"id":{"$numberLong":"5"}},"guest":{"name":"Ann","other":[{"name":"no"}]}}',
        '{"hotel":{"id":7},"guest":"Bea"}',
        '{"hotel":[{"id":{"$numberLong":8}}],"guest":{"name":"no"},"guest.name":"Cid"}',
      ].join('\n'),
      { columns: { ServiceId: 'hotel.id.$numberLong', BookingClientName: 'guest.name' } },
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: '5', BookingClientName: 'Ann' } },
      { fields: { ServiceId: undefined, BookingClientName: undefined } },
      { fields: { ServiceId: undefined, BookingClientName: 'Cid' } },
    ]);
  });

  it('are never inherited from Object.prototype', async () => {
    const columns = { ServiceId: '__proto__', ProviderName: 'constructor', ProviderHotelId: 'toString.name' };
    const content = '{}\n{"__proto__":5,"constructor":"x"}\n{"toString.name":7}\n';
    const { records } = await readNdjson(content, { columns });
    expect(summarise(records)).toEqual(['1:undefined', '2:5', '3:undefined']);
    expect(records).toMatchObject([
      { fields: { ProviderName: undefined, ProviderHotelId: undefined } },
      { fields: { ProviderName: 'x', ProviderHotelId: undefined } },
      { fields: { ProviderName: undefined, ProviderHotelId: 7 } },
    ]);
  });

  it('fail the day if no object has them, after its last record; a null counts as present', async () => {
    const line = '{"ServiceId":5}\n';
    const content = `${line.repeat(50)}{"ProviderName":null,"CheckInDate":null}\n${line.repeat(50)}{"ServiceId":6}`;
    const named = {
      BookingClientName: 'guest',
      ProviderName: 'ProviderName',
      ProviderHotelId: 'ProviderHotelId',
    };
    const chunks: SourceChunk[] = [];
    const failure = await readNdjson(content, {
      blockBytes: 64,
      columns: { ...masterIdOnly, ...named },
      onChunk: (chunk) => chunks.push(chunk),
    }).catch((error: unknown) => error);
    expect(chunks.flatMap(({ records }) => records)).toHaveLength(102);
    expect(failure).toMatchObject({
      fault: 'missing-member',
      message: expect.stringMatching(
        /^no record of .*ndjson has the member "guest" \(for BookingClientName\) or "ProviderHotelId"; the first one has "ServiceId"\. .*source\.columns: \{ BookingClientName: false, ProviderHotelId: false \}$/,
      ),
    });
    await expect(readNdjson(line, { columns: { ServiceId: 'hotel_id' } })).rejects.toThrow(
      /"hotel_id" \(for ServiceId\); .*Set its name in source\.columns$/,
    );
  });
});
