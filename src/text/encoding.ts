import { isUtf8 } from 'node:buffer';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The encodings of files, by the names that the setting uses. */
export const encodings = [
  'utf-8',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'utf-16le',
  'utf-16be',
] as const;

export type Encoding = (typeof encodings)[number];

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
  switch (encoding) {
    case 'utf-8':
      return undefined;
    case 'windows-1252':
    // Whatever claims to be ISO 8859-1 is nearly always Windows-1252. The two differ only in control characters.
    case 'iso-8859-1':
      return convertBytes(/[\x80-\x9f]/, windows1252);
    case 'iso-8859-15':
      return convertBytes(/[¤¦¨´¸¼½¾]/, latin9);
    case 'utf-16le':
    case 'utf-16be':
      return convertUnits(encoding, isLenient);
  }
}

/** Five bytes stand for no character. */
const windows1252 = pair(0x80, '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ');
const latin9 = new Map([...'¤¦¨´¸¼½¾'].map((from, at) => [from, '€ŠšŽžŒœŸ'.charAt(at)]));

function pair(first: number, characters: string): ReadonlyMap<string, string> {
  return new Map([...characters].map((character, at) => [String.fromCharCode(first + at), character]));
}

/**
 * One byte per character: Latin-1, except for some characters. Not done by TextDecoder, as some releases of Node 22 and 23
 * decode Windows-1252 as Latin-1.
 */
function convertBytes(differing: RegExp, characters: ReadonlyMap<string, string>): Converter {
  const all = new RegExp(differing, 'g');
  return {
    convert(block) {
      const text = block.toString('latin1');
      const meant = differing.test(text) ? text.replace(all, (one) => characters.get(one) ?? one) : text;
      return Buffer.from(meant);
    },
    end: () => Buffer.alloc(0),
  };
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

/** How many bytes show whether a file has a byte order mark or is a container. */
export const signatureBytes = 4;

/** What a file is that only contains a table, such as a workbook; undefined for anything else. */
export function nameContainer(bytes: Buffer): string | undefined {
  return containers.find(([signature]) => bytes.subarray(0, signatureBytes).equals(signature))?.[1];
}

/** The most likely encoding of bytes without a byte order mark; undefined if they don't look like text. */
export function guessEncoding(bytes: Buffer): Encoding | undefined {
  if (bytes.includes(0)) return guessUnits(bytes);
  if (isUtf8(bytes)) return 'utf-8';
  return looksWestern(bytes) ? 'windows-1252' : undefined;
}

const guessedBytes = 64 * 1024;

/** In UTF-16, the digits and separators of a table have a zero byte each, always on the same side. */
function guessUnits(bytes: Buffer): Encoding | undefined {
  const pairs = Math.floor(Math.min(bytes.length, guessedBytes) / 2);
  let firsts = 0;
  let seconds = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) firsts += 1;
    if (bytes[at + 1] === 0) seconds += 1;
  }
  if (seconds > pairs / 3 && firsts === 0) return 'utf-16le';
  return firsts > pairs / 3 && seconds === 0 ? 'utf-16be' : undefined;
}

/** Control characters that texts have: tab, line ends, and the end mark of old systems. */
const textControls: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x1a]);
/** The bytes that stand for no character in Windows-1252. */
const unassigned: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** In Western texts most accented letters stand alone. In Greek, Cyrillic or Chinese ones they stand together. */
function looksWestern(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, guessedBytes);
  if (sample.some((byte) => (byte < 0x20 && !textControls.has(byte)) || unassigned.has(byte))) return false;
  const runs = sample.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  return runs.filter((run) => run.length === 1).length >= runs.length / 2;
}

/** Lines as text. Each is valid UTF-8, or Windows-1252. */
export function decodeLines(lines: Buffer): string {
  if (isUtf8(lines)) return lines.toString();
  return splitLines(lines)
    .map((line) => (isUtf8(line) ? line : convertBytes(/[\x80-\x9f]/, windows1252).convert(line)).toString())
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
