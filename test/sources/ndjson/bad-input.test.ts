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
    ['a comma at the end', '{"ServiceId":2},', 'malformed-json'],
    ['half an object', '{"ServiceId":2,"BookingClientName":"Canary', 'malformed-json'],
    ['a byte order mark in mid-file', '\uFEFF{"ServiceId":2}', 'malformed-json'],
    ['a number that JSON has not', '{"ServiceId":02}', 'malformed-json'],
    ['no-break spaces', '\u00a0', 'malformed-json'],
    ['a list', '[{"ServiceId":2}]', 'not-an-object'],
    ['a text', '"Canary"', 'not-an-object'],
    ['null', 'null', 'not-an-object'],
    ['a needed name twice, once in disguise', '{"ServiceId":2,"Service\\u0049d":2}', 'duplicate-member'],
    ['brackets without end', '['.repeat(500_000), 'malformed-json'],
    ['brackets in brackets', `${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'not-an-object'],
  ])('is %s: it is reported in its place, and reading continues', async (_, line, reason) => {
    const { records } = await readFile(`${good}${line}\n${good}`, { columns: masterIdOnly });
    expect(summarise(records)).toEqual(['1:1', `2!${reason}`, '3:1']);
    expect(inspect(records)).not.toContain('Canary');
  });

  it('has a name twice that is needed in a nested object; others do not matter', async () => {
    const { records } = await readFile(
      '{"guest":{"name":"a","name":"b"}}\n{"ServiceId":5,"x":1,"x":2,"guest":{"x":1,"x":2,"name":"c"}}\n',
      { columns: { BookingClientName: 'guest.name' } },
    );
    expect(summarise(records)).toEqual(['1!duplicate-member', '2:5']);
  });

  it.each([1, 64, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const lineOf = (id: number, bytes: number, letter = 'x') =>
      `{"ServiceId":${id},"x":"${letter.repeat(bytes - 22)}"}`;
    const lines = [lineOf(1, 90), lineOf(2, 91), lineOf(3, 300), lineOf(4, 62, 'é'), ' '.repeat(91), good];
    const { records } = await readFile(lines.join('\r\n'), { recordLimit: 90, blockBytes });
    const tooLong = [2, 3, 4, 5].map((line) => `${line}!record-too-long`);
    expect(summarise(records)).toEqual(['1:1', ...tooLong, '6:1']);
  });

  it('is longer than 1 MB', async () => {
    const line = (length: number) => `{"ServiceId":1,"x":"${'x'.repeat(length - 22)}"}\n`;
    const { records } = await readFile(`${line(1_000_000)}${line(1_000_001)}${good}`);
    expect(summarise(records)).toEqual(['1:1', '2!record-too-long', '3:1']);
  });
});

it.each([
  ['"ServiceId":9007199254740992', 'service-id-invalid'],
  ['"ServiceId":1.00000000000000000001', 'service-id-invalid'],
  ['"ServiceId":1e400', 'service-id-invalid'],
  ['"ServiceId":1.5', 'service-id-invalid'],
  ['"ServiceId":9007199254740991', { serviceId: 9_007_199_254_740_991 }],
  ['"ServiceId":50E-1', { serviceId: 5 }],
  ['"ServiceId":1,"ProviderHotelId":12.50', { providerHotelId: '12.5' }],
  ['"ServiceId":1,"ProviderHotelId":-7', { providerHotelId: '-7' }],
  ['"ServiceId":1,"ProviderHotelId":12345678901234567890', 'field-not-text'],
  ['"ServiceId":1,"ProviderHotelId":1e-9', 'field-not-text'],
])('a number that would lose digits is not a number: %s', async (members, outcome) => {
  const [record] = (await readFile(`{${members}}\n`)).records;
  if (!record || !('fields' in record)) return expect.fail('it was not read');
  const normalised = createNormaliser()(record.fields);
  const read = normalised.kind === 'booking' ? normalised.booking : normalised.reason;
  if (typeof outcome === 'string') expect(read).toBe(outcome);
  else expect(read).toMatchObject(outcome);
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
    ['a NUL in a line too long', bad(`${good}\n"${'x'.repeat(300)}`, [0]), 3],
    ['Windows-1252', bad(`${good}{"a":"Jos`, [0xe9], '"}\n\n{}\n'), 2],
    ['a surrogate', bad('{"a":"', [0xed, 0xa0, 0x80]), 1],
    ['UTF-16 LE', Buffer.from(good, 'utf16le'), 1],
  ])('is binary: %s, and the error names the line', async (_, content, line) => {
    for (const blockBytes of [1, 3, 4096])
      await expectFault(
        readFile(content, { blockBytes, recordLimit: 200 }),
        'binary',
        new RegExp(`line ${line},`),
      );
  });

  it('is truncated anywhere in its last object: the error names the line, and does not quote it', async () => {
    const last = Buffer.from('{"ServiceId":2,"BookingClientName":"Canary é","x":{"y":[1]}}');
    const upTo = (length: number) => Buffer.concat([Buffer.from(`${good}\n`), last.subarray(0, length)]);
    for (let length = 1; length < last.length; length++)
      await expectFault(readFile(upTo(length)), 'truncated', /line 3: the file ends there/);
    expect(summarise((await readFile(upTo(last.length))).records)).toEqual(['1:1', '3:2']);
    // It is complete, but not an object.
    expect(summarise((await readFile(`${good}[2]`)).records)).toEqual(['1:1', '2!not-an-object']);
  });

  it('ends with half a character, a line that is too long to be read, or half a gzip', async () => {
    const half = bad(`${good}{"ServiceId":2}`, [0xe2, 0x82], '');
    await expectFault(readFile(half), 'truncated', /line 2: .*half a character/);
    const long = readFile(`${good}{"a":"${'x'.repeat(300)}"}`, { recordLimit: 200 });
    await expectFault(long, 'truncated', /line 2: .*record-too-long/);
    await expectFault(readFile(gzipSync(good).subarray(0, -3)), 'truncated', /cut off or damaged/);
  });
});
