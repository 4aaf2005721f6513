import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { summarise } from '../csv/csv-folder.js';
import { expectFault } from '../csv/expect-fault.js';
import { useNdjsonFolder } from './ndjson-folder.js';

const { readFile } = useNdjsonFolder();
const good = '{"ServiceId":1}\n';

describe('a line that cannot be read', () => {
  it.each([
    ['a text of no kind', 'Canary', 'malformed-json'],
    ['a comma at the end', '{"ServiceId":2},', 'malformed-json'],
    ['two objects', '{"ServiceId":2}{"ServiceId":3}', 'malformed-json'],
    ['half an object', '{"ServiceId":2,"BookingClientName":"Canary', 'malformed-json'],
    ['a byte order mark in mid-file', '\uFEFF{"ServiceId":2}', 'malformed-json'],
    ['a tab inside of a text', '{"ServiceId":2,"BookingClientName":"Canary\t"}', 'malformed-json'],
    ['single quotes', "{'ServiceId':2}", 'malformed-json'],
    ['a number that JSON has not', '{"ServiceId":02}', 'malformed-json'],
    ['NaN', '{"ServiceId":NaN}', 'malformed-json'],
    ['no-break spaces', '\u00a0', 'malformed-json'],
    ['a list', '[{"ServiceId":2}]', 'not-an-object'],
    ['a number', '2', 'not-an-object'],
    ['a text', '"Canary"', 'not-an-object'],
    ['null', 'null', 'not-an-object'],
    ['a needed name twice', '{"ServiceId":2,"ServiceId":3}', 'duplicate-member'],
    ['a needed name twice, once in disguise', '{"ServiceId":2,"Service\\u0049d":2}', 'duplicate-member'],
    ['brackets without end', '['.repeat(500_000), 'malformed-json'],
    ['brackets in brackets', `${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'not-an-object'],
  ])('is %s: it is reported in its place, and reading continues', async (_, line, reason) => {
    const { records } = await readFile(`${good}${line}\n${good}`, { columns: masterIdOnly });
    expect(summarise(records)).toEqual(['1:1', `2!${reason}`, '3:1']);
    expect(inspect(records)).not.toContain('Canary');
  });

  it('has a duplicate name in a needed nested object', async () => {
    const { records } = await readFile(
      '{"guest":{"name":"a","name":"b"}}\n{"ServiceId":5,"guest":{"x":1,"x":2,"name":"c"}}\n',
      {
        columns: { BookingClientName: 'guest.name' },
      },
    );
    expect(summarise(records)).toEqual(['1!duplicate-member', '2:5']);
  });

  it('may have duplicate names that are not needed', async () => {
    const { records } = await readFile('{"ServiceId":2,"x":1,"x":2,"y":{"ServiceId":3,"ServiceId":4}}\n');
    expect(summarise(records)).toEqual(['1:2']);
  });

  it.each([1, 3, 64, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const lineOf = (id: number, bytes: number) => {
      const text = `{"ServiceId":${id},"x":""}`;
      return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
    };
    const { records } = await readFile(
      [
        lineOf(1, 90),
        lineOf(2, 91),
        lineOf(3, 92),
        lineOf(4, 300),
        `{"ServiceId":5,"x":"${'é'.repeat(40)}"}`,
        ' '.repeat(91),
        good,
      ].join('\r\n'),
      { recordLimit: 90, blockBytes },
    );
    expect(summarise(records)).toEqual([
      '1:1',
      '2!record-too-long',
      '3!record-too-long',
      '4!record-too-long',
      '5!record-too-long',
      '6!record-too-long',
      '7:1',
    ]);
  });

  it('is longer than 1 MB', async () => {
    const line = (length: number) => `{"ServiceId":1,"x":"${'x'.repeat(length - 22)}"}\n`;
    const { records } = await readFile(`${line(1_000_000)}${line(1_000_001)}${good}`);
    expect(summarise(records)).toEqual(['1:1', '2!record-too-long', '3:1']);
  });
});

describe('a number that would lose digits is not a number:', () => {
  const normalise = createNormaliser();
  const read = async (line: string) => {
    const [record] = (await readFile(`${line}\n`)).records;
    if (!record || !('fields' in record)) return expect.fail('it was not read');
    const normalised = normalise(record.fields);
    return normalised.kind === 'booking' ? normalised.booking : normalised.reason;
  };

  it.each([
    '9007199254740993',
    '9007199254740992',
    '1000000000000000000000001',
    '9007199254740990.6',
    '1.00000000000000000001',
    '0.99999999999999999999',
    '1e400',
    '5e-1',
    '1.5',
  ])('%s is not a valid hotel id', async (written) => {
    expect(await read(`{"ServiceId":${written}}`)).toBe('service-id-invalid');
  });

  it.each([
    ['9007199254740991', 9_007_199_254_740_991],
    ['5.0', 5],
    ['5.000e0', 5],
    ['50E-1', 5],
    ['1e3', 1_000],
  ])('%s is a whole number nevertheless', async (written, serviceId) => {
    expect(await read(`{"ServiceId":${written}}`)).toMatchObject({ serviceId });
  });

  it.each([
    ['12.5', '12.5'],
    ['12.50', '12.5'],
    ['0.1', '0.1'],
    ['-7', '-7'],
  ])("%s as a provider's hotel id is the text %s", async (written, providerHotelId) => {
    expect(await read(`{"ServiceId":1,"ProviderHotelId":${written}}`)).toMatchObject({ providerHotelId });
  });

  it.each(['12345678901234567890', '0.12345678901234567890', '1e21', '1e-9'])(
    "%s as a provider's hotel id is a reject",
    async (written) => {
      expect(await read(`{"ServiceId":1,"ProviderHotelId":${written}}`)).toBe('field-not-text');
    },
  );

  it('in nested objects, too', async () => {
    const { records } = await readFile('{"hotel":{"id":9007199254740990.6}}\n', {
      columns: { ServiceId: 'hotel.id' },
    });
    expect(summarise(records)).toEqual(['1:NaN']);
  });
});

describe('an NDJSON file that cannot be trusted as a whole', () => {
  it.each([
    ['zero bytes', Buffer.alloc(0)],
    ['zero bytes in gzip', gzipSync('')],
    ['a byte order mark alone', Buffer.from('\uFEFF')],
  ])('is empty: %s', async (_, content) => {
    await expectFault(
      readFile(content),
      'empty',
      /is empty: a day without bookings has at least a blank line/,
    );
  });

  const bad = (before: string, bytes: number[], after = '"}\n') =>
    Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
  it.each([
    ['a NUL', bad(`${good}{"a":"Canary`, [0]), 2],
    ['a NUL in a line too long', bad(`${good}\n"${'x'.repeat(300)}`, [0]), 3],
    ['Windows-1252', bad(`${good}{"a":"Jos`, [0xe9], '"}\n\n{}\n'), 2],
    ['a surrogate', bad('{"a":"', [0xed, 0xa0, 0x80]), 1],
    ['UTF-16 LE', Buffer.from(good, 'utf16le'), 1],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 1],
  ])('is binary: %s, and the error names the line', async (_, content, line) => {
    for (const blockBytes of [1, 2, 3, 64, 4096]) {
      await expectFault(
        readFile(content, { blockBytes, recordLimit: 200 }),
        'binary',
        new RegExp(`line ${line},`),
      );
    }
  });

  it('is truncated anywhere in its last object: the error names the line, and does not quote it', async () => {
    const last = Buffer.from('{"ServiceId":2,"BookingClientName":"Canary é","x":{"y":[1]}}');
    for (let length = 1; length < last.length; length++) {
      const content = Buffer.concat([Buffer.from(`${good}\n`), last.subarray(0, length)]);
      for (const blockBytes of [1, 4096]) {
        await expectFault(readFile(content, { blockBytes }), 'truncated', /line 3: the file ends there/);
      }
    }
    expect(summarise((await readFile(Buffer.concat([Buffer.from(`${good}\n`), last]))).records)).toEqual([
      '1:1',
      '3:2',
    ]);
  });

  it.each([good, `${good}{"ServiceId":2}`])('ends with half a character after %j', async (before) => {
    const content = Buffer.concat([Buffer.from(before), Buffer.from([0xe2, 0x82])]);
    await expectFault(readFile(content), 'truncated', /line 2: .*half a character/);
  });

  it('ends with a line that is too long to be read', async () => {
    const content = `${good}{"a":"${'x'.repeat(300)}"}`;
    await expectFault(readFile(content, { recordLimit: 200 }), 'truncated', /line 2: .*record-too-long/);
  });

  it('is not truncated if its last line is complete but not an object', async () => {
    expect(summarise((await readFile(`${good}[2]`)).records)).toEqual(['1:1', '2!not-an-object']);
  });

  it('is truncated gzip: always an error, never a short day', async () => {
    const gzip = gzipSync(`${good}${good}`);
    for (let length = 2; length < gzip.length; length++) {
      await expectFault(readFile(gzip.subarray(0, length)), 'truncated', /cut off or damaged/);
    }
  });
});
