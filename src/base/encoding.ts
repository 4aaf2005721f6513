import { isUtf8 } from 'node:buffer';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The encodings with one byte for each character, by the names that the setting uses. */
const byteEncodings = [
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'windows-1250',
  'windows-1254',
  'macintosh',
] as const;

/** The encodings of files. */
export const encodings = ['utf-8', ...byteEncodings, 'utf-16le', 'utf-16be'] as const;

export type ByteEncoding = (typeof byteEncodings)[number];
export type Encoding = (typeof encodings)[number];

export function isByteEncoding(encoding: string): encoding is ByteEncoding {
  return byteEncodings.some((one) => one === encoding);
}

/** Converts a text to UTF-8, block by block. */
interface Converter {
  /** @throws TypeError if the bytes are not text in this encoding */
  convert(block: Buffer): Buffer;
  /**
   * What is left after the last block.
   *
   * @throws TypeError if the input ended in the middle of a character
   */
  end(): Buffer;
}

/**
 * Returns nothing for UTF-8, which needs no conversion.
 *
 * @param isLenient writes U+FFFD instead of throwing
 */
export function createConverter(encoding: Encoding, { isLenient = false } = {}): Converter | undefined {
  if (encoding === 'utf-8') return undefined;
  return isByteEncoding(encoding) ? convertBytes(encoding) : convertUnits(encoding, isLenient);
}

const firstCode = 0x80;
const latin1 = Buffer.from(Array.from({ length: 128 }, (_, at) => firstCode + at)).toString('latin1');
const windows1252 = `€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ${latin1.slice(32)}`;

/**
 * The characters of the bytes from 0x80 on; U+FFFD for those that stand for none. Not taken from TextDecoder: some releases of Node 22
 * and 23 decode Windows-1252 as Latin-1, and builds with fewer languages know fewer encodings.
 */
const characters: { readonly [name in ByteEncoding]: string } = {
  'windows-1252': windows1252,
  // Whatever claims to be ISO 8859-1 is nearly always Windows-1252. The two differ only in control characters.
  'iso-8859-1': windows1252,
  'iso-8859-15': replaceEach(latin1, '¤¦¨´¸¼½¾', '€ŠšŽžŒœŸ'),
  'windows-1250':
    '€\ufffd‚\ufffd„…†‡\ufffd‰Š‹ŚŤŽŹ\ufffd‘’“”•–—\ufffd™š›śťžź' +
    '\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙',
  'windows-1254': replaceEach(windows1252, 'ŽžÐÝÞðýþ', '\ufffd\ufffdĞİŞğış'),
  macintosh:
    'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø' +
    '¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ',
};

function replaceEach(text: string, from: string, to: string): string {
  return text.replace(new RegExp(`[${from}]`, 'g'), (one) => to.charAt(from.indexOf(one)));
}

/** Latin-1, except for some characters. */
function convertBytes(encoding: ByteEncoding): Converter {
  const meaning = characters[encoding];
  const differ = Array.from(latin1).filter((one, at) => meaning.charAt(at) !== one);
  const others = new RegExp(`[${differ.join('')}]`, 'g');
  return {
    convert(block) {
      const text = block.toString('latin1');
      return Buffer.from(text.replace(others, (one) => meaning.charAt(one.charCodeAt(0) - firstCode)));
    },
    end: () => Buffer.alloc(0),
  };
}

/** What a text that was read in one encoding says in another one. */
export function readAs(text: string, from: ByteEncoding, to: ByteEncoding): string {
  return text.replace(/[^\0-\x7f]/g, (one) => characters[to].charAt(characters[from].indexOf(one)));
}

function convertUnits(encoding: 'utf-16le' | 'utf-16be', isLenient: boolean): Converter {
  const decoder = new TextDecoder(encoding, { fatal: !isLenient, ignoreBOM: true });
  return {
    convert: (block) => Buffer.from(decoder.decode(block, { stream: true })),
    end: () => Buffer.from(decoder.decode()),
  };
}

const marks: readonly (readonly [Encoding, Buffer])[] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** The encoding that a byte order mark states, and the mark's length; undefined without one. */
export function readByteOrderMark(bytes: Buffer): { encoding: Encoding; length: number } | undefined {
  const found = marks.find(([, mark]) => bytes.subarray(0, mark.length).equals(mark));
  return found && { encoding: found[0], length: found[1].length };
}

const containers: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('PK\x03\x04', 'latin1'), 'an Excel workbook or an archive'],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'an old Excel workbook'],
];

const signatureBytes = 4;

/** What a file is that only contains a table, such as a workbook; undefined for anything else. */
export function nameContainer(bytes: Buffer): string | undefined {
  return containers.find(([signature]) => bytes.subarray(0, signatureBytes).equals(signature))?.[1];
}

/** Those that fit bytes without a byte order mark, the most likely first; none if they don't look like text. */
export function listLikelyEncodings(bytes: Buffer): readonly Encoding[] {
  if (bytes.includes(0)) return guessUnits(bytes);
  return isUtf8(bytes) ? ['utf-8'] : listWestern(bytes);
}

const guessedBytes = 64 * 1024;

/** In UTF-16, the digits and separators of a table have a zero byte each, always on the same side. */
function guessUnits(bytes: Buffer): readonly Encoding[] {
  const pairs = Math.floor(Math.min(bytes.length, guessedBytes) / 2);
  let firsts = 0;
  let seconds = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) firsts += 1;
    if (bytes[at + 1] === 0) seconds += 1;
  }
  if (seconds > pairs / 3 && firsts === 0) return ['utf-16le'];
  return firsts > pairs / 3 && seconds === 0 ? ['utf-16be'] : [];
}

/** Control characters that texts have: tab, line ends, and the end mark of old systems. */
const textControls: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x1a]);
/** Control characters of Latin-1, and bytes that stand for no character. */
const noText = /[\x80-\x9f\ufffd]/;
/** A symbol before a letter, punctuation between two letters, or a capital after a small one: rare in the encoding of a text. */
const oddCharacter =
  /(?![\0-\x7f’·])(?:[\p{S}\p{No}\p{Lm}](?=\p{L})|(?<=\p{L})\p{P}(?=\p{L})|(?<=\p{Ll})\p{Lu})/gu;

/** In Western texts most accented letters stand alone. In Greek, Cyrillic or Chinese ones they stand together. */
function listWestern(bytes: Buffer): readonly ByteEncoding[] {
  const first = Math.max(0, bytes.findIndex((byte) => byte >= firstCode) - guessedBytes / 2);
  const sample = bytes.subarray(first, first + guessedBytes);
  if (sample.some((byte) => byte < 0x20 && !textControls.has(byte))) return [];
  const runs = sample.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  if (runs.filter((run) => run.length === 1).length < runs.length / 2) return [];
  const readings = byteEncodings
    // Here it means Windows-1252.
    .filter((encoding) => encoding !== 'iso-8859-1')
    .map((encoding) => ({ encoding, text: convertBytes(encoding).convert(sample).toString() }))
    .filter(({ text }) => !noText.test(text))
    .map(({ encoding, text }) => ({ encoding, odd: text.match(oddCharacter)?.length ?? 0 }));
  const least = Math.min(...readings.map(({ odd }) => odd));
  // A few names are odd in any encoding.
  return readings
    .filter(({ odd }) => odd <= 2 * least)
    .toSorted((one, other) => one.odd - other.odd)
    .map(({ encoding }) => encoding);
}

const western = convertBytes('windows-1252');

/** Lines as text. Each is valid UTF-8, or Windows-1252. */
export function decodeLines(lines: Buffer): string {
  if (isUtf8(lines)) return lines.toString();
  return splitLines(lines)
    .map((line) => (isUtf8(line) ? line : western.convert(line)).toString())
    .join('');
}

/** Each with the LF or CR that ends it. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte !== lineFeed && byte !== carriageReturn) continue;
    lines.push(bytes.subarray(start, at + 1));
    start = at + 1;
  }
  return [...lines, bytes.subarray(start)];
}

const quote = 0x22;

/**
 * Whether most lines of a text end with CR only. A line `sep=` above them, or a cell in quotes, may have LF all the same.
 * A quote inside a cell's text opens nothing: `27" TV`.
 *
 * @param bytes the beginning of a text in UTF-8
 */
export function endsWithReturns(bytes: Buffer): boolean {
  if (!bytes.includes(carriageReturn)) return false;
  let returns = 0;
  let isQuoted = false;
  let closedAt = -1;
  // A CR at the very end may be half of a CRLF.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      if (isQuoted) closedAt = at;
      isQuoted = !isQuoted && (at === closedAt + 1 || !isInWord(bytes[at - 1] ?? 0));
    } else if (isQuoted) continue;
    else if (byte === lineFeed) returns -= 1;
    else if (byte === carriageReturn && at + 1 < bytes.length) returns += bytes[at + 1] === lineFeed ? 0 : 1;
  }
  return returns > 0;
}

/** Anything but the delimiters, line ends and blanks that may stand before a cell. */
function isInWord(byte: number): boolean {
  return byte >= 0x80 || byte === quote || /\w/.test(String.fromCharCode(byte));
}
