import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { expectFault, readNdjson, summarise } from '../reading.js';

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
    const { records } = await readNdjson(`${good}${line}\n${good}`, { columns: masterIdOnly });
    expect(summarise(records)).toEqual(['1:1', `2!${reason}`, '3:1']);
    expect(inspect(records)).not.toContain('Canary');
  });

  it('has a name twice that is needed in a nested object; others do not matter', async () => {
    const { records } = await readNdjson(
      '{"guest":{"name":"a","name":"b"}}\n{"ServiceId":5,"x":1,"x":2,"guest":{"x":1,"x":2,"name":"c"}}\n',
      { columns: { BookingClientName: 'guest.name' } },
    );
    expect(summarise(records)).toEqual(['1!duplicate-member', '2:5']);
  });

  it.each([1, 64, 1024])('is longer than the limit, read %i bytes at a time', async (blockBytes) => {
    const lineOf = (id: number, bytes: number, letter = 'x') =>
      `{"ServiceId":${id},"x":"${letter.repeat(bytes - 22)}"}`;
    const lines = [lineOf(1, 90), lineOf(2, 91), lineOf(3, 300), lineOf(4, 62, 'é'), ' '.repeat(91), good];
    const { records } = await readNdjson(lines.join('\r\n'), { recordLimit: 90, blockBytes });
    const tooLong = [2, 3, 4, 5].map((line) => `${line}!record-too-long`);
    expect(summarise(records)).toEqual(['1:1', ...tooLong, '6:1']);
  });
});

it.each([
  ['"ServiceId":9007199254740992', 'service-id-invalid'],
  ['"ServiceId":1.00000000000000000001', 'service-id-invalid'],
  ['"ServiceId":1e400', 'service-id-invalid'],
  ['"ServiceId":9007199254740991', { serviceId: 9_007_199_254_740_991 }],
  ['"ServiceId":50E-1', { serviceId: 5 }],
  ['"ServiceId":1,"ProviderHotelId":12.50', { providerHotelId: '12.5' }],
  ['"ServiceId":1,"ProviderHotelId":12345678901234567890', 'field-not-text'],
  ['"ServiceId":1,"ProviderHotelId":1e-9', 'field-not-text'],
])('a number that would lose digits is not a number: %s', async (members, outcome) => {
  const [record] = (await readNdjson(`{${members}}\n`)).records;
  if (!record || !('fields' in record)) return expect.fail('it was not read');
  const normalised = createNormaliser()(record.fields);
  const read = normalised.kind === 'booking' ? normalised.booking : normalised.reason;
  if (typeof outcome === 'string') expect(read).toBe(outcome);
  else expect(read).toMatchObject(outcome);
});

describe('an NDJSON file that is cut off', () => {
  it('anywhere in its last object: the error names the line, and does not quote it', async () => {
    const last = Buffer.from('{"ServiceId":2,"BookingClientName":"Canary é","x":{"y":[1]}}');
    const upTo = (length: number) => Buffer.concat([Buffer.from(`${good}\n`), last.subarray(0, length)]);
    for (let length = 1; length < last.length; length++)
      await expectFault(readNdjson(upTo(length)), 'truncated', /line 3: the file ends there/);
    expect(summarise((await readNdjson(upTo(last.length))).records)).toEqual(['1:1', '3:2']);
    // It is complete, but not an object.
    expect(summarise((await readNdjson(`${good}[2]`)).records)).toEqual(['1:1', '2!not-an-object']);
  });

  it('in a character, or in a line that is too long to be read', async () => {
    const half = Buffer.concat([Buffer.from(`${good}{"ServiceId":2}`), Buffer.from([0xe2, 0x82])]);
    await expectFault(readNdjson(half), 'truncated', /line 2: .*half a character/);
    const long = readNdjson(`${good}{"a":"${'x'.repeat(300)}"}`, { recordLimit: 200 });
    await expectFault(long, 'truncated', /line 2: .*record-too-long/);
  });
});
