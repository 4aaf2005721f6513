import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Encoding, encodings, listLikelyEncodings } from '../../src/base/encoding.js';
import type { SourceRecord } from '../../src/booking/source.js';
import { createCsvDecoder } from '../../src/sources/csv/csv-source.js';
import { convertText, readUnknownText } from '../../src/sources/files/text-file.js';
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

/** The bytes from 0x80 on as Python's codecs read them, so that the tests don't share a mistake with the code. */
const upperHalves: { readonly [name in Encoding]?: string } = {
  'windows-1252':
    '€�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ\xa0¡¢£¤¥¦§¨©ª«¬\xad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ',
  'iso-8859-15': `${String.fromCharCode(...Array.from({ length: 32 }, (_, at) => 0x80 + at))}\xa0¡¢£€¥Š§š©ª«¬\xad®¯°±²³Žµ¶·ž¹º»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ`,
  'windows-1250':
    '€�‚�„…†‡�‰Š‹ŚŤŽŹ�‘’“”•–—�™š›śťžź\xa0ˇ˘Ł¤Ą¦§¨©Ş«¬\xad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙',
  'windows-1254':
    '€�‚ƒ„…†‡ˆ‰Š‹Œ����‘’“”•–—˜™š›œ��Ÿ\xa0¡¢£¤¥¦§¨©ª«¬\xad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ',
  macintosh:
    'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\xa0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ',
};
const upperHalfOf = (encoding: Encoding) =>
  upperHalves[encoding] ?? (encoding === 'iso-8859-1' ? upperHalves['windows-1252'] : undefined) ?? '';

function encode(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default:
      return Buffer.from(
        Array.from(text, (one) => {
          if (one.charCodeAt(0) < 0x80) return one.charCodeAt(0);
          expect(upperHalfOf(encoding)).toContain(one);
          return 0x80 + upperHalfOf(encoding).indexOf(one);
        }),
      );
  }
}

const byteEncodings = encodings.filter((encoding) => !encoding.startsWith('utf'));

describe('a file in another encoding', () => {
  it.each<[Encoding, string]>([
    ['utf-8', 'José 山田 🏨'],
    ['windows-1252', 'José ’Š€Ÿ'],
    ['iso-8859-1', 'José ÿ¤'],
    ['iso-8859-15', 'José œŠ€Ÿ'],
    ['windows-1250', 'Łódź Dvořák Šťastný'],
    ['windows-1254', 'Işıl Çağlayan ŞĞİ'],
    ['macintosh', 'Renée Müller Straße'],
    ['utf-16le', 'José 山田 🏨'],
    ['utf-16be', 'José 山田 🏨'],
  ])('is read in %s, in blocks of any size', (encoding, name) => {
    for (const blockBytes of [1, 2, 3, 7, 4096])
      expect(readNames(encode(toCsv(name), encoding), encoding, blockBytes)).toEqual([name]);
  });

  it.each(byteEncodings)('has every byte of %s read as one character, or as none', (encoding) => {
    const bytes = Buffer.concat([Buffer.from('ServiceId;BookingClientName\n1;x'), Buffer.alloc(128, 0)]);
    for (let at = 0; at < 128; at += 1) bytes[bytes.length - 128 + at] = 0x80 + at;
    expect(readNames(Buffer.concat([bytes, Buffer.from('x\n')]), encoding)).toEqual([
      `x${upperHalfOf(encoding)}x`,
    ]);
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

  it('is refused if it is not text in its encoding', () => {
    const lone = encode(toCsv('\ud800'), 'utf-16le');
    expect(() => readNames(lone, 'utf-16le')).toThrow('day.csv is not text in utf-16le');
    const cut = encode(toCsv('José'), 'utf-16le').subarray(0, -1);
    expect(() => readNames(cut, 'utf-16le')).toThrow('day.csv ends in the middle of a character');
    expect(() => readNames(encode(toCsv('a\0b'), 'windows-1252'), 'windows-1252')).toThrow(/line 2, is not/);
  });
});

describe('a file in UTF-8 that is to be read in another encoding', () => {
  const refused = 'day.csv is UTF-8 text, but source.encoding is';

  it('is refused for any text beyond ASCII, wherever it is and is cut', () => {
    const anyText = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !/["\r\n;\0]/.test(text));
    const names = fc.array(anyText, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 40 }), (written, blockBytes) => {
        const bytes = Buffer.from(
          `ServiceId;BookingClientName\n${written.map((name) => `1;x${name}\n`).join('')}`,
        );
        const read = () => readNames(bytes, 'macintosh', blockBytes);
        if (bytes.some((byte) => byte >= 0x80)) expect(read).toThrow(refused);
        else expect(read()).toHaveLength(written.length);
      }),
    );
  });

  it.each<[string, string, number[]]>([
    ['one name in its own encoding', 'Schröder', [0x32, 0x3b, 0xf6, 0x0a]],
    ['half a character at its end', 'Schröder', [0x32, 0x3b, 0xc3]],
    ['ASCII alone', 'Guest', []],
  ])('is not refused with %s', (_, name, more) => {
    const bytes = Buffer.concat([Buffer.from(toCsv(name)), Buffer.from(more)]);
    for (const blockBytes of [1, 7, 4096])
      expect(readNames(bytes, 'windows-1252', blockBytes)).not.toEqual([]);
  });
});

describe('an unknown encoding', () => {
  it.each<[string, Buffer, readonly Encoding[]]>([
    ['UTF-8', encode(toCsv('José'), 'utf-8'), ['utf-8']],
    [
      'German',
      encode(toCsv('Jörg Müller, Straße'), 'windows-1252'),
      ['windows-1252', 'iso-8859-15', 'windows-1250', 'windows-1254'],
    ],
    ['Polish', encode(toCsv('Małgorzata Świątek, Łódź'), 'windows-1250'), ['windows-1250']],
    ['of a Macintosh', encode(toCsv('Renée Müller'), 'macintosh'), ['macintosh']],
    ['UTF-16 LE', encode(toCsv('José'), 'utf-16le'), ['utf-16le']],
    ['Cyrillic', Buffer.concat([Buffer.from('1;'), Buffer.from([0xc8, 0xe2, 0xe0, 0xed])]), []],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), []],
    [
      'accents far below',
      encode(`${'x\n'.repeat(90_000)}Łódź, Małgorzata`, 'windows-1250'),
      ['windows-1250'],
    ],
  ])('is guessed, with the others that fit: %s', (_, bytes, guesses) => {
    expect(listLikelyEncodings(bytes)).toEqual(guesses);
  });

  it('is named by the error for a file that is not UTF-8', () => {
    expect(() => readNames(encode(toCsv('José'), 'windows-1252'), 'utf-8', 4096)).toThrow(
      'day.csv, line 2, is not UTF-8 text: it looks like windows-1252: set source.encoding. That is a guess: iso-8859-15, ',
    );
    expect(() => readNames(encode(toCsv('José'), 'utf-16le'), 'utf-8', 4096)).toThrow(
      'day.csv, line 1, is not UTF-8 text: it looks like utf-16le: set source.encoding',
    );
  });

  it.each<[string, Buffer, object]>([
    [
      'ends in the middle of a character',
      Buffer.from('a;é').subarray(0, -1),
      { text: 'a;', encoding: 'utf-8' },
    ],
    [
      'is in several that fit',
      encode('é;a', 'windows-1252'),
      {
        ...{ text: 'é;a', encoding: 'windows-1252' },
        otherEncodings: ['iso-8859-15', 'windows-1250', 'windows-1254', 'macintosh'],
      },
    ],
    ['is marked', Buffer.from('\ufeffa;é', 'utf16le'), { text: 'a;é', encoding: 'utf-16le', isMarked: true }],
  ])('is detected from the beginning of a file, which %s', (_, bytes, expected) => {
    expect(readUnknownText(bytes, path)).toMatchObject(expected);
  });
});
