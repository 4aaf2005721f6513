import { escapePattern } from '../text/pattern.js';

interface Credentials {
  readonly apiKey: string;
  readonly accountId: string;
  /** Secrets for other servers that the service may know, such as the password of its SFTP server. */
  readonly otherSecrets?: readonly string[] | undefined;
}

/** Shorter texts occur in encoded ones by chance. */
const shortestEncoded = 8;

/**
 * Creates the function that removes the caller's own secrets from the service's words: a service that echoes the
 * call, as it is or encoded, would otherwise put them into the ledger. (Design 10.)
 *
 * The key is removed anywhere; the account's identifier, which may be a short number, only as a separate word.
 */
export function createRedaction({
  apiKey,
  accountId,
  otherSecrets = [],
}: Credentials): (text: string) => string {
  const account = escapePattern(accountId);
  // After `%20` a new word begins.
  const accountAlone = `(?:(?<![\\p{L}\\p{N}])|(?<=%[0-9a-f]{2}))${account}(?![\\p{L}\\p{N}])`;
  const encoded = [apiKey, accountId, ...otherSecrets].flatMap(listEncodings).map(escapePattern);
  const credentials = new RegExp(
    [...[apiKey, ...otherSecrets].map(escapePattern), accountAlone].join('|'),
    'gu',
  );
  // Hexadecimal digits are written in either case; base64 in another case is a different text, and harmless to remove.
  const inDisguise = encoded.length === 0 ? undefined : new RegExp(encoded.join('|'), 'gi');
  return (text) => {
    const plain = text.replace(credentials, '***');
    return inDisguise ? plain.replace(inDisguise, '***') : plain;
  };
}

/**
 * The text as programs encode it: percent, hexadecimal, base64 (whatever surrounds the text), HTML and JSON escapes.
 */
function listEncodings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < shortestEncoded) return [];
  const hex = bytes.toString('hex');
  const codes = [...text].map((character) => character.charCodeAt(0));
  const encodings = [
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    hex,
    hex.replace(/../g, '%$&'),
    codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join(''),
    ...[0, 1, 2].flatMap((offset) => encodeBase64(bytes, offset)),
  ];
  return encodings.filter((one) => one !== text);
}

/** The characters of base64 that do not depend on what surrounds a text that starts at this offset of a group of three. */
function encodeBase64(bytes: Buffer, offset: number): readonly string[] {
  const before = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = before.subarray(0, before.length - (before.length % 3)).toString('base64');
  const text = whole.slice(Math.ceil((offset * 4) / 3));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
