import { randomBytes } from 'node:crypto';
import { constants, gunzipSync, inflateSync } from 'node:zlib';

/** Texts that occur nowhere else, by what they stand for. */
export type Canaries = Readonly<Record<string, string>>;

export interface Finding {
  readonly canary: string;
  readonly encoding: string;
  readonly around: string;
}

/** A text that no program contains, and that differs with each run of the tests. */
export function createCanary(what: string): string {
  return `${what}${randomBytes(6).toString('hex')}`;
}

/** Every occurrence of a canary in bytes that somebody wrote: in the clear, encoded, and within what is compressed. */
export function findCanaries(bytes: Uint8Array, canaries: Canaries): readonly Finding[] {
  const texts = [bytes, ...unpack(Buffer.from(bytes))].map((part) => Buffer.from(part).toString('latin1'));
  const found: Finding[] = [];
  for (const [canary, text] of Object.entries(canaries))
    for (const [encoding, encoded] of encode(text))
      for (const searched of texts) {
        const at = searched.indexOf(encoded);
        if (at === -1) continue;
        found.push({ canary, encoding, around: searched.slice(Math.max(0, at - 60), at + 60) });
      }
  return found;
}

/** A text in each encoding in which it might be written, as the characters of its bytes. */
function encode(text: string): readonly (readonly [string, string])[] {
  const utf8 = Buffer.from(text);
  const hex = utf8.toString('hex');
  const utf16 = Buffer.from(text, 'utf16le');
  const percent = encodeURIComponent(text);
  const everyPercent = hex.replace(/../g, '%$&');
  const everyEscape = [...text].map(
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const references = (write: (code: number) => string) =>
    [...text].map((character) => write(character.codePointAt(0) ?? 0)).join('');
  return [
    ['UTF-8', utf8.toString('latin1')],
    ['UTF-16 LE', utf16.toString('latin1')],
    ['UTF-16 BE', Buffer.from(utf16).swap16().toString('latin1')],
    ['Latin-1', text],
    ['hex', hex],
    ['upper case hex', hex.toUpperCase()],
    ['URL', percent],
    ['form', percent.replaceAll('%20', '+')],
    ['URL, every byte', everyPercent],
    ['URL, every byte, upper case', everyPercent.toUpperCase()],
    ['JSON, escaped', everyEscape.join('')],
    ['JSON, non-ASCII escaped', text.replace(/[^ -~]/g, (one) => everyEscape[[...text].indexOf(one)] ?? '')],
    ['HTML', references((code) => `&#${code};`)],
    ['HTML, hex', references((code) => `&#x${code.toString(16)};`)],
    ...[0, 1, 2].flatMap((offset) => encodeBase64(utf8, offset)),
    ...encodeBase64(utf16, 0),
  ];
}

/** The characters of base64 that are the same whatever surrounds a text that starts at this offset of a group of three. */
function encodeBase64(bytes: Buffer, offset: number): readonly (readonly [string, string])[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const kept = whole.length - (whole.length % 3);
  const text = whole
    .subarray(0, kept)
    .toString('base64')
    .slice(Math.ceil((offset * 8) / 6));
  return [
    [`base64 at ${offset}`, text],
    [`base64url at ${offset}`, text.replaceAll('+', '-').replaceAll('/', '_')],
  ];
}

const deepest = 3;

/** What is compressed anywhere in these bytes, even if it is cut off, and what is compressed inside that. */
function unpack(bytes: Buffer, depth = 1): readonly Buffer[] {
  if (depth > deepest) return [];
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  const members: Buffer[] = [];
  for (const [magic, open] of [
    [Buffer.from([0x1f, 0x8b, 0x08]), gunzipSync],
    [Buffer.from([0x78, 0x01]), inflateSync],
    [Buffer.from([0x78, 0x9c]), inflateSync],
    [Buffer.from([0x78, 0xda]), inflateSync],
  ] as const)
    for (let at = bytes.indexOf(magic); at !== -1; at = bytes.indexOf(magic, at + 1)) {
      try {
        const member = open(bytes.subarray(at), options);
        members.push(member, ...unpack(member, depth + 1));
      } catch {
        // These bytes only look like it.
      }
    }
  return members;
}
