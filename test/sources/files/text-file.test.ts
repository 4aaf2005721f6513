import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectFault, readCsv, readNdjson, summarise } from '../reading.js';

type Options = Parameters<typeof readCsv>[1] & Parameters<typeof readNdjson>[1];
const formats = {
  csv: {
    read: (content: string | Buffer, options?: Options) => readCsv(content, options),
    head: 'ServiceId,b\n',
  },
  ndjson: {
    read: (content: string | Buffer, options?: Options) => readNdjson(content, options),
    head: '{"ServiceId":1}\n',
  },
};
type Format = keyof typeof formats;
const { csv, ndjson } = formats;

describe.each(Object.keys(formats) as Format[])('a file of text that cannot be trusted, as %s,', (format) => {
  const { read } = formats[format];

  it.each([
    ['zero bytes', Buffer.alloc(0)],
    ['zero bytes in gzip', gzipSync('')],
    ['a byte order mark alone', Buffer.from('\uFEFF')],
  ])('is empty: %s', async (_, content) => {
    await expectFault(read(content), 'empty', /is empty/);
  });

  it('may begin like an archive or an old workbook, which is named', async () => {
    const archive = Buffer.from('504b0304140000000800', 'hex');
    await expectFault(read(archive), 'binary', /is an Excel workbook or an archive: export/);
    const workbook = Buffer.from('d0cf11e0a1b11ae1', 'hex');
    await expectFault(read(workbook), 'binary', /is an old Excel workbook: export the bookings/);
  });
});

const bad = (before: string, bytes: number[], after = '\n') =>
  Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);

it.each<[Format, string, Buffer, number]>([
  ['csv', 'a NUL inside of quotes', bad('ServiceId,b\n5,"\n\n', [0], '"\n'), 4],
  ['csv', 'a NUL in a record too long', bad(`ServiceId,b\n5,"\n${'x'.repeat(300)}\n`, [0], '"\n'), 4],
  ['csv', 'Windows-1252', bad('ServiceId,b\n5,Jos', [0xe9], '\n6,x\n'), 2],
  ['csv', 'UTF-16 BE', Buffer.from('ServiceId\n5\n', 'utf16le').swap16(), 1],
  ['ndjson', 'a NUL in a line too long', bad(`${ndjson.head}\n"${'x'.repeat(300)}`, [0], '"}\n'), 3],
  ['ndjson', 'Windows-1252', bad(`${ndjson.head}{"a":"Jos`, [0xe9], '"}\n\n{}\n'), 2],
  ['ndjson', 'a surrogate', bad('{"a":"', [0xed, 0xa0, 0x80], '"}\n'), 1],
])('a file of %s is binary with %s, and the error names the line', async (format, _, content, line) => {
  for (const blockBytes of [1, 3, 4096])
    await expectFault(
      formats[format].read(content, { blockBytes, recordLimit: 200 }),
      'binary',
      new RegExp(`line ${line},`),
    );
});

it('a record of more than 1 MB is reported, and the others are read', async () => {
  const rows = [999_998, 999_999, 1].map((length) => `1,${'x'.repeat(length)}\n`);
  const { records } = await csv.read(`${csv.head}${rows.join('')}`);
  expect(summarise(records)).toEqual(['2:1', '3!record-too-long', '4:1']);
  const line = (length: number) => `{"ServiceId":1,"x":"${'x'.repeat(length - 22)}"}\n`;
  const read = await ndjson.read(`${line(1_000_000)}${line(1_000_001)}${ndjson.head}`);
  expect(summarise(read.records)).toEqual(['1:1', '2!record-too-long', '3:1']);
});

it('a CSV file of line ends alone is empty: it has no header', async () => {
  await expectFault(csv.read('\n\r\n'), 'empty', /is empty/);
});
