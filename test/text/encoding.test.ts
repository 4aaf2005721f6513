import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceRecord } from '../../src/review/source.js';
import { createCsvDecoder } from '../../src/sources/csv/csv-source.js';
import { convertText, readUnknownText } from '../../src/sources/files/text-file.js';
import { type Encoding, encodings, guessEncoding } from '../../src/text/encoding.js';
import { columnsIn } from '../support/source-columns.js';

const path = 'day.csv';

function readNames(bytes: Buffer, encoding: Encoding, blockBytes = 7): unknown[] {
  const decoder = convertText(
    createCsvDecoder({ path, delimiter: ';', columns: columnsIn(toCsv('')) }),
    path,
    encoding,
  );
  const records: SourceRecord[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes)
    records.push(...decoder.decode(bytes.subarray(at, at + blockBytes)).records);
  records.push(...decoder.end().records);
  return records.map((record) => ('fields' in record ? record.fields.BookingClientName : record));
}

const toCsv = (name: string) => `ServiceId;BookingClientName\r\n1;${name}\r\n`;

/** Written by hand, so that the tests don't share a mistake with the code. */
function encode(text: string, encoding: Encoding): Buffer {
  const special: { readonly [name in Encoding]?: Readonly<Record<string, number>> } = {
    'windows-1252': { '€': 0x80, '’': 0x92, Š: 0x8a, Ÿ: 0x9f },
    'iso-8859-15': { '€': 0xa4, Š: 0xa6, Ÿ: 0xbe, œ: 0xbd },
  };
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default:
      return Buffer.from(Array.from(text, (one) => special[encoding]?.[one] ?? one.charCodeAt(0)));
  }
}

describe('a file in another encoding', () => {
  it.each<[Encoding, string]>([
    ['utf-8', 'José 山田 🏨'],
    ['windows-1252', 'José ’Š€Ÿ'],
    ['iso-8859-1', 'José ÿ¤'],
    ['iso-8859-15', 'José œŠ€Ÿ'],
    ['utf-16le', 'José 山田 🏨'],
    ['utf-16be', 'José 山田 🏨'],
  ])('is read in %s, in blocks of any size', (encoding, name) => {
    for (const blockBytes of [1, 2, 3, 7, 4096])
      expect(readNames(encode(toCsv(name), encoding), encoding, blockBytes)).toEqual([name]);
  });

  it.each<[Encoding, number[]]>([
    ['utf-8', [0xef, 0xbb, 0xbf]],
    ['utf-16le', [0xff, 0xfe]],
    ['utf-16be', [0xfe, 0xff]],
  ])('is read by its byte order mark, whatever is configured: %s', (encoding, mark) => {
    const bytes = Buffer.concat([Buffer.from(mark), encode(toCsv('José'), encoding)]);
    for (const configured of encodings)
      for (const blockBytes of [1, 3, 4096])
        expect(readNames(bytes, configured, blockBytes)).toEqual(['José']);
  });

  it('keeps every text of its encoding', () => {
    const anyText = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/["\r\n;\0]/.test(text));
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (name, blockBytes) => {
        for (const encoding of ['utf-16le', 'utf-16be'] as const)
          expect(readNames(encode(toCsv(name), encoding), encoding, blockBytes)).toEqual([name]);
      }),
    );
  });

  it('is refused if it is not text in its encoding', () => {
    const lone = encode(toCsv('\ud800'), 'utf-16le');
    expect(() => readNames(lone, 'utf-16le')).toThrow('day.csv is not text in utf-16le');
    const cut = encode(toCsv('José'), 'utf-16le').subarray(0, -1);
    expect(() => readNames(cut, 'utf-16le')).toThrow('day.csv ends in the middle of a character');
    expect(() => readNames(encode(toCsv('a\0b'), 'windows-1252'), 'windows-1252')).toThrow(/line 2, is not/);
  });
});

describe('an unknown encoding', () => {
  it.each<[string, Buffer, Encoding | undefined]>([
    ['UTF-8', encode(toCsv('José'), 'utf-8'), 'utf-8'],
    ['Western', encode(toCsv('José ’Ñandú’, Müller'), 'windows-1252'), 'windows-1252'],
    ['UTF-16 LE', encode(toCsv('José'), 'utf-16le'), 'utf-16le'],
    ['UTF-16 BE', encode(toCsv('José'), 'utf-16be'), 'utf-16be'],
    ['Cyrillic', Buffer.concat([Buffer.from('1;'), Buffer.from([0xc8, 0xe2, 0xe0, 0xed])]), undefined],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), undefined],
  ])('is guessed: %s', (_, bytes, guess) => {
    expect(guessEncoding(bytes)).toBe(guess);
  });

  it('is named by the error for a file that is not UTF-8', () => {
    expect(() => readNames(encode(toCsv('José'), 'windows-1252'), 'utf-8', 4096)).toThrow(
      'day.csv, line 2, is not UTF-8 text: it looks like windows-1252: set source.encoding',
    );
    expect(() => readNames(encode(toCsv('José'), 'utf-16le'), 'utf-8', 4096)).toThrow(
      'day.csv, line 1, is not UTF-8 text: it looks like utf-16le: set source.encoding',
    );
  });

  it('is detected from the beginning of a file, which may end in the middle of a character', () => {
    expect(readUnknownText(Buffer.from('a;é').subarray(0, -1), path)).toEqual({
      text: 'a;',
      encoding: 'utf-8',
    });
    expect(readUnknownText(encode('é;a', 'windows-1252'), path)).toEqual({
      text: 'é;a',
      encoding: 'windows-1252',
    });
    expect(readUnknownText(Buffer.from('\ufeffa;é', 'utf16le'), path)).toEqual({
      text: 'a;é',
      encoding: 'utf-16le',
    });
  });
});
