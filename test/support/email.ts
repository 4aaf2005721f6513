import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a sandbox e-mail that tests check. */
export interface ReadEmail {
  readonly path: string;
  /** What was reviewed, as worded in the e-mail. */
  readonly about: string;
  /** The references of the listed bookings, in order. */
  readonly references: readonly string[];
}

/** All e-mails of an outbox, ordered by name. */
export function readEmails(outbox: string): ReadEmail[] {
  return readdirSync(outbox)
    .sort()
    .map((name) => readEmail(join(outbox, name)));
}

/** Reads the quoted-printable text of an e-mail. */
export function readEmail(path: string): ReadEmail {
  const [, ...paragraphs] = readFileSync(path, 'latin1').split('\r\n\r\n');
  const text = decodeQuotedPrintable(paragraphs.join('\r\n\r\n'));
  const [, about = ''] = /^The review of (.+) found /m.exec(text) ?? [];
  return { path, about, references: [...text.matchAll(/^(.+)\n {2}Guest: /gm)].map(([, name = '']) => name) };
}

/** @param text as transmitted, one byte per character */
export function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}
