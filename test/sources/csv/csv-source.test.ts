import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { day, summarise, useCsvFolder } from './csv-folder.js';

const header =
  'ServiceId,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
const { pathOf, readDay, readFile } = useCsvFolder();

describe('a CSV file as people write them', () => {
  it('is read with all seven fields under their own names', async () => {
    const { records, notices } = await readFile(`${header}\n5,BR-1,Ann,Prov,0012,2026-11-20,2026-11-24\n`);
    expect(records).toEqual([
      {
        place: 2,
        fields: {
          ServiceId: '5',
          BookingReferenceId: 'BR-1',
          BookingClientName: 'Ann',
          ProviderName: 'Prov',
          ProviderHotelId: '0012',
          CheckInDate: '2026-11-20',
          CheckOutDate: '2026-11-24',
        },
      },
    ]);
    expect(notices).toEqual([]);
  });

  it('may lack the last line end', async () => {
    expect(summarise((await readFile('ServiceId,x\n5,a\n6,b')).records)).toEqual(['2:5', '3:6']);
    expect(summarise((await readFile('ServiceId,x\n5,a\n6,"b"')).records)).toEqual(['2:5', '3:6']);
    expect(summarise((await readFile('ServiceId,x\n5,a\n6,')).records)).toEqual(['2:5', '3:6']);
  });

  it('may have a byte order mark, before a quoted name too', async () => {
    expect(summarise((await readFile('\uFEFFServiceId\n5\n')).records)).toEqual(['2:5']);
    expect(summarise((await readFile('\uFEFF"ServiceId"\n5\n')).records)).toEqual(['2:5']);
  });

  it('keeps a U+FEFF that is no byte order mark', async () => {
    const { records } = await readFile('BookingReferenceId,ServiceId\n\uFEFFx,5\n', { blockBytes: 29 });
    expect(records).toMatchObject([{ fields: { BookingReferenceId: '\uFEFFx' } }]);
  });

  it('may have CRLF, LF and both; a lone CR is an ordinary character', async () => {
    const { records } = await readFile(
      'ServiceId,ProviderName\r\n5,a\n6,"b"\r\n7,c\rd\r\n8,"e\r\nf"\r\n9,g\r\n',
    );
    expect(summarise(records)).toEqual(['2:5', '3:6', '4:7', '5:8', '7:9']);
    expect(records).toMatchObject([
      { fields: { ProviderName: 'a' } },
      { fields: { ProviderName: 'b' } },
      { fields: { ProviderName: 'c\rd' } },
      { fields: { ProviderName: 'e\nf' } },
      { fields: { ProviderName: 'g' } },
    ]);
  });

  it('may have blank lines, which are no records but count as lines', async () => {
    expect(summarise((await readFile('\n\r\nServiceId\n\n5\n\r\n\n6\n""\n\n7')).records)).toEqual([
      '5:5',
      '8:6',
      '9:',
      '11:7',
    ]);
    expect(summarise((await readFile('\nServiceId\n5\n\n')).records)).toEqual(['3:5']);
  });

  it('may have rows of empty cells, which are no records', async () => {
    const rows = ',,\n , ,\n"",,""\n,\n,,,,\n';
    const read = await readFile(`ServiceId,x,y\n5,a,b\n${rows}6,c,d\n${rows}`);
    expect(summarise(read.records)).toEqual(['2:5', '8:6']);
  });

  it.each([64 * 1024, 1, 7])('may end its lines with CR only (in blocks of %d bytes)', async (blockBytes) => {
    const text = 'ServiceId,BookingClientName\r5,"a\rb"\r\r6,c\r';
    const { records } = await readFile(text, { blockBytes });
    expect(summarise(records)).toEqual(['2:5', '5:6']);
    expect(records).toMatchObject([{ fields: { BookingClientName: 'a\nb' } }, { place: 5 }]);
  });

  it.each([
    ['a line sep= that ends with LF', 'sep=,\nServiceId,BookingClientName\r5,a\r6,b\r', ['3:5', '4:6']],
    ['a line feed in quotes', 'ServiceId,BookingClientName\r5,"a\nb"\r6,c\r', ['2:5', '4:6']],
  ])('may end most lines with CR: %s', async (_, text, expected) => {
    for (const blockBytes of [1, 1000])
      expect(summarise((await readFile(text, { blockBytes })).records)).toEqual(expected);
  });

  it('may have a quote inside a cell above returns in quotes', async () => {
    const text = 'ServiceId,BookingClientName\n5,a"b\n6,"c\rd"\n7,"e\rf"\n';
    const { records } = await readFile(text);
    expect(summarise(records)).toEqual(['2:5', '3:6', '4:7']);
    expect(records[1]).toMatchObject({ fields: { BookingClientName: 'c\rd' } });
  });

  it.each(['\x1a', '\x1a\x1a\r\n', '\x1a\x1a\x1a'])(
    'may have end marks after its last line (%j)',
    async (mark) => {
      for (const blockBytes of [1, 1000]) {
        const text = `ServiceId,ProviderName\r\n5,a\x1ab\r\n6,c\r\n${mark}`;
        const { records } = await readFile(text, { blockBytes });
        expect(records.map((record) => 'fields' in record && record.fields.ProviderName)).toEqual([
          'a\x1ab',
          'c',
        ]);
      }
    },
  );

  it.each(['sep=;', '"sep=;"', 'sep=;\r', 'SEP=;,,'])('may name its delimiter in a line %j', async (line) => {
    for (const blockBytes of [1, 1000]) {
      const { records } = await readFile(`${line}\nServiceId;ProviderName\n5;a,b\n`, { blockBytes });
      expect(records).toMatchObject([{ place: 3, fields: { ServiceId: '5', ProviderName: 'a,b' } }]);
    }
  });

  it('may have lines above its header', async () => {
    const text = 'Bookings of "today\n\nServiceId,ProviderName\n5,a\n';
    for (const blockBytes of [1, 1000])
      expect(summarise((await readFile(text, { blockBytes, skipRows: 2 })).records)).toEqual(['4:5']);
    expect(
      summarise((await readFile(`sep=,\n${text}`, { skipRows: 3 })).records),
      'a line that names the delimiter is one of them',
    ).toEqual(['5:5']);
  });

  it('may have spaces before its quotes', async () => {
    const text =
      '"ServiceId", "BookingClientName",  "ProviderName"\r\n5, "Lee, ""A"" B",a\n6,  "",="x"\n 7 , b, "c"\n';
    for (const blockBytes of [1, 3, 1000]) {
      const { records } = await readFile(text, { blockBytes });
      expect(records).toMatchObject([
        { place: 2, fields: { BookingClientName: 'Lee, "A" B', ProviderName: 'a' } },
        { place: 3, fields: { BookingClientName: '', ProviderName: '="x"' } },
        { place: 4, fields: { BookingClientName: ' b', ProviderName: 'c' } },
      ]);
    }
  });

  it('may have tabs before its quotes, unless they delimit', async () => {
    for (const blockBytes of [1, 3, 1000]) {
      const spaced = await readFile('ServiceId,ProviderName\n5,\t "a,b"\n', { blockBytes });
      expect(spaced.records).toMatchObject([{ fields: { ProviderName: 'a,b' } }]);
      const tabbed = await readFile('ServiceId\tb\tProviderName\n5\t\t"a"\n6\t \t "a"\n', {
        ...{ blockBytes, delimiter: '\t' },
      });
      expect(tabbed.records).toMatchObject([
        { fields: { ServiceId: '5', ProviderName: 'a' } },
        { fields: { ServiceId: '6', ProviderName: 'a' } },
      ]);
    }
  });

  it('may have delimiters, quotes and line ends inside quotes', async () => {
    const { records } = await readFile('ServiceId,BookingClientName\n5,"a,""b""\n\nc"\n6,"""\n"""\n7,""\n');
    expect(summarise(records)).toEqual(['2:5', '5:6', '7:7']);
    expect(records).toMatchObject([
      { fields: { BookingClientName: 'a,"b"\n\nc' } },
      { fields: { BookingClientName: '"\n"' } },
      { fields: { BookingClientName: '' } },
    ]);
  });

  it('keeps a quote inside an unquoted cell as it is', async () => {
    const { records } = await readFile('ServiceId,BookingClientName\n5,Ann "A" Lee\n6, ="x"\n7,27"\n');
    expect(records).toMatchObject([
      { fields: { BookingClientName: 'Ann "A" Lee' } },
      { fields: { BookingClientName: ' ="x"' } },
      { fields: { BookingClientName: '27"' } },
    ]);
  });

  it.each([';', '\t', '|', ' ', '*', '\\'])('may be delimited by %j', async (delimiter) => {
    const { records } = await readFile(
      `ServiceId${delimiter}ProviderName\n5${delimiter}"a${delimiter}b,c"\n6${delimiter}d,e\n`,
      {
        delimiter,
      },
    );
    expect(records).toMatchObject([
      { fields: { ServiceId: '5', ProviderName: `a${delimiter}b,c` } },
      { fields: { ServiceId: '6', ProviderName: 'd,e' } },
    ]);
  });

  it('is recognised as gzip by its content, not by its name', async () => {
    expect(summarise((await readFile(gzipSync('ServiceId\n5\n'))).records)).toEqual(['2:5']);
    await writeFile(pathOf('2026-11-20.csv.gz'), 'ServiceId\n6\n');
    expect(summarise((await readDay({ columns: masterIdOnly }, '{day}.csv.gz')).records)).toEqual(['2:6']);
  });

  it('may be gzip with several members, split anywhere', async () => {
    const csv = Buffer.from('ServiceId,ProviderName\n5,"é"\n6,b\n');
    for (let at = 0; at <= csv.length; at++) {
      const members = Buffer.concat([gzipSync(csv.subarray(0, at)), gzipSync(csv.subarray(at))]);
      for (const blockBytes of [1, 7, 64, 1024]) {
        expect(summarise((await readFile(members, { blockBytes })).records)).toEqual(['2:5', '3:6']);
      }
    }
  });

  it('with a header only is an empty day, whose columns must be there', async () => {
    expect(await readFile(header)).toMatchObject({ records: [], notices: [] });
    for (const content of ['ServiceId\n', 'ServiceId']) {
      await writeFile(pathOf('2026-11-20.csv'), content);
      await expect(readDay()).rejects.toMatchObject({ fault: 'missing-column' });
    }
  });

  it('reports progress in bytes of the file', async () => {
    const content = gzipSync(`${header}\n${'5,BR-1,Ann,Prov,0012,2026-11-20,2026-11-24\n'.repeat(1000)}`);
    const { chunks } = await readFile(content);
    expect(chunks.at(-1)?.progress).toEqual({ done: content.length, total: content.length });
  });
});

describe('aborting', () => {
  it('throws the reason after a last record without a line end, too', async () => {
    await writeFile(pathOf('2026-11-20.csv'), `${header}\n5,BR-1,Ann,Prov,0012,2026-11-20,2026-11-24`);
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    const source = createCsvSource({ file: createLocalDayFile(pathOf('{day}.csv')) });
    const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
    expect((await reading.next()).value?.records).toHaveLength(1);
    stopping.abort(reason);
    await expect(reading.next()).rejects.toBe(reason);
  });
});

describe('creating a CSV source', () => {
  it.each(['', ',,', '"', '\n', '\r', '\r\n', '\0', 'é', '🏨', '\uFEFF'])(
    'refuses %j as a delimiter',
    (delimiter) => {
      expect(() => createCsvSource({ file: createLocalDayFile('/x'), delimiter })).toThrow(RangeError);
    },
  );
});
