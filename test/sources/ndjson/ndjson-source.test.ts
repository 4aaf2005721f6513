import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SourceChunk } from '../../../src/booking/source.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { summarise } from '../csv/csv-folder.js';
import { useNdjsonFolder } from './ndjson-folder.js';

const { readFile } = useNdjsonFolder();

const whole = {
  ServiceId: 5,
  BookingReferenceId: 'BR-1',
  BookingClientName: 'Ann',
  ProviderName: 'Prov',
  ProviderHotelId: '0012',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-24',
};

describe('an NDJSON file as programs write them', () => {
  it('is read with all seven fields under their own names, and nothing else', async () => {
    const { records, notices } = await readFile(
      `${JSON.stringify({ ...whole, price: 99.5, tags: ['a'] })}\n`,
    );
    expect(records).toEqual([{ place: 1, fields: whole }]);
    expect(notices).toEqual([]);
  });

  it('may lack the last line end, and have a byte order mark, CRLF and white space around values', async () => {
    const content = '\uFEFF{"ServiceId":5}\r\n { "ServiceId" : 6 } \r\n\t{"ServiceId"\t:\r7}';
    expect(summarise((await readFile(content)).records)).toEqual(['1:5', '2:6', '3:7']);
  });

  it('may have blank lines, which are no records but count as lines', async () => {
    const content = '\n\r\n{"ServiceId":5}\n \t\r\n\n{"ServiceId":6}\n\n  ';
    expect(summarise((await readFile(content)).records)).toEqual(['3:5', '6:6']);
  });

  it('of blank lines only is a day without bookings, and has no absent columns', async () => {
    for (const content of ['\n', '\r\n', '\uFEFF\n', '  ', gzipSync('\n')]) {
      expect(await readFile(content)).toEqual({ chunks: [], records: [], notices: [] });
    }
  });

  it('keeps texts as they are: escapes, U+FEFF, lone surrogates, null words, other numbers', async () => {
    const { records } = await readFile(
      `{"ServiceId":"007","BookingReferenceId":"\\ufeffx\uFEFF","BookingClientName":"\\ud800 \\"\\u00e9é\\\\","ProviderName":"NULL","ProviderHotelId":1250}\n`,
    );
    expect(records).toEqual([
      {
        place: 1,
        fields: {
          ServiceId: '007',
          BookingReferenceId: '\uFEFFx\uFEFF',
          BookingClientName: '\ud800 "éé\\',
          ProviderName: 'NULL',
          ProviderHotelId: 1250,
        },
      },
    ]);
  });

  it('returns null, true, arrays and objects unchanged', async () => {
    const { records } = await readFile(
      '{"ServiceId":[5],"ProviderName":null,"ProviderHotelId":{"a":1},"CheckInDate":true}\n',
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: [5], ProviderName: null, ProviderHotelId: { a: 1 }, CheckInDate: true } },
    ]);
  });

  it('may be gzip with several members, split anywhere', async () => {
    const bytes = Buffer.from('{"ServiceId":5,"ProviderName":"é"}\n{"ServiceId":6}\n');
    for (let at = 0; at <= bytes.length; at++) {
      const members = Buffer.concat([gzipSync(bytes.subarray(0, at)), gzipSync(bytes.subarray(at))]);
      for (const blockBytes of [1, 64, 1024]) {
        expect(summarise((await readFile(members, { blockBytes })).records)).toEqual(['1:5', '2:6']);
      }
    }
  });
});

describe('the members of the objects', () => {
  it('are found by the configured names, exactly, in any order', async () => {
    const { records } = await readFile(
      '{"hotel":"5","ServiceId":9,"Gast\\u0020Name":"Ann"}\n{"Gast Name":"Bea","servicehotel":1,"hotel":6}\n',
      { columns: { ServiceId: 'hotel', BookingClientName: 'Gast Name' } },
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: '5', BookingClientName: 'Ann' } },
      { fields: { ServiceId: 6, BookingClientName: 'Bea' } },
    ]);
  });

  it('may be in nested objects, by a path with dots', async () => {
    const { records } = await readFile(
      [
        '{"hotel":{"id":{"$numberLong":"5"}},"guest":{"name":"Ann","other":[{"name":"no"}]}}',
        '{"hotel":{"id":{"$numberLong":6}},"guest":{"other":{"name":"no"}}}',
        '{"hotel":{"id":7},"guest":"Bea"}',
        '{"hotel":[{"id":{"$numberLong":8}}],"guest":[{"name":"no"}]}',
        '',
      ].join('\n'),
      {
        columns: {
          ServiceId: 'hotel.id.$numberLong',
          BookingClientName: 'guest.name',
        },
      },
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: '5', BookingClientName: 'Ann' } },
      { fields: { ServiceId: 6, BookingClientName: undefined } },
      { fields: { ServiceId: undefined, BookingClientName: undefined } },
      { fields: { ServiceId: undefined, BookingClientName: undefined } },
    ]);
  });

  it('are found by the exact name first, even with dots', async () => {
    const { records } = await readFile('{"ServiceId":5,"guest":{"name":"no"},"guest.name":"Ann"}\n', {
      columns: { BookingClientName: 'guest.name' },
    });
    expect(records).toMatchObject([{ fields: { BookingClientName: 'Ann' } }]);
  });

  it('are never inherited from Object.prototype', async () => {
    const columns = { ServiceId: '__proto__', ProviderName: 'constructor', ProviderHotelId: 'toString.name' };
    const content = '{}\n{"__proto__":5,"constructor":"x"}\n{"toString.name":7}\n';
    const { records } = await readFile(content, { columns });
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
    const columns = { ...masterIdOnly, BookingClientName: 'guest', ProviderName: 'ProviderName' };
    const chunks: SourceChunk[] = [];
    const failure = await readFile(content, {
      blockBytes: 64,
      columns: { ...columns, ProviderHotelId: 'ProviderHotelId' },
      onChunk: (chunk) => chunks.push(chunk),
    }).catch((error: unknown) => error);
    expect(chunks.flatMap(({ records }) => records)).toHaveLength(102);
    expect(failure).toMatchObject({
      fault: 'missing-member',
      message: expect.stringMatching(
        /^no record of .*ndjson has the member "guest" \(for BookingClientName\) or "ProviderHotelId"; the first one has "ServiceId"\. .*source\.columns: \{ BookingClientName: false, ProviderHotelId: false \}$/,
      ),
    });
  });

  it('include the master id', async () => {
    const reading = readFile('{"ServiceId":5}\n', { columns: { ServiceId: 'hotel_id' } });
    await expect(reading).rejects.toMatchObject({
      fault: 'missing-member',
      message: expect.stringMatching(/"hotel_id" \(for ServiceId\); .*Set its name in source\.columns$/),
    });
  });
});
