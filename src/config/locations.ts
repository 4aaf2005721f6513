import * as z from 'zod';
import { mayContainUnescapedPassword } from '../http/url.js';
import { readS3Location, type S3Location } from '../s3/bucket.js';
import { explainUnprotected } from '../settings/connection-security.js';
import { expected, group, oneOf, textThat } from '../settings/values.js';

/** Where the ledger lives. */
export type LedgerLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** What distributes steps to workers. */
export type QueueLocation =
  | { readonly kind: 'in-process' }
  | { readonly kind: 'redis'; readonly url: string };

/** Where the evidence of file runs is kept. */
export type ArchiveLocation =
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3' } & S3Location);

const ledgerForms = 'sqlite:PATH or postgres://…';
const queueForms = 'in-process, redis://… or rediss://…';

/** An address that can't be read is reported as such. */
export const ledger = textThat((url) => readLedgerLocation(url) !== undefined, ledgerForms).refine(
  (url) => readLedgerLocation(url) === undefined || explainUnprotected(url) === undefined,
  { error: ({ input }) => explainUnprotected(String(input)) },
);

const queueAddress = textThat((url) => readQueueLocation(url) !== undefined, queueForms).describe(
  'The address.',
);

export const queue = z.union(
  [
    queueAddress.refine(
      (url) => readQueueLocation(url) === undefined || explainUnprotected(url) === undefined,
      {
        error: ({ input }) => explainUnprotected(String(input)),
      },
    ),
    group({
      url: queueAddress,
      plaintext: oneOf('allowed').describe('Allows a connection to another machine without TLS.'),
    }),
  ],
  expected(queueForms),
);

/** Reads `sqlite:PATH` or `postgres://…`; undefined for anything else. The path stays as written. */
export function readLedgerLocation(text: string): LedgerLocation | undefined {
  if (isUrlOf(text, ['postgres:', 'postgresql:'])) return { kind: 'postgres', url: text };
  // Two slashes introduce a host, which a database file doesn't have; three introduce an absolute path.
  const path = /^sqlite:(?!\/\/[^/])(.+)$/.exec(text)?.[1];
  return path === undefined ? undefined : { kind: 'sqlite', path };
}

/** Reads `in-process`, `redis://…` or `rediss://…`; undefined for anything else. */
export function readQueueLocation(text: string): QueueLocation | undefined {
  if (text === 'in-process') return { kind: 'in-process' };
  return isUrlOf(text, ['redis:', 'rediss:']) ? { kind: 'redis', url: text } : undefined;
}

/** Reads a folder's path or `s3://BUCKET/PREFIX`; undefined for anything else. The path stays as written. */
export function readArchiveLocation(text: string): ArchiveLocation | undefined {
  const bucket = readS3Location(text);
  if (bucket !== undefined) return { kind: 's3', ...bucket };
  return text === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^s3:/i.test(text)
    ? undefined
    : { kind: 'directory', path: text };
}

/** Whether a URL holds a password, next to the user name or among the parameters. */
export function holdsPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { password, searchParams } = new URL(text);
  return password !== '' || [...searchParams.keys()].some((name) => /pass|secret|token|key/i.test(name));
}

function isUrlOf(text: string, protocols: readonly string[]): boolean {
  return (
    /^[a-z0-9]+:\/\/./i.test(text) &&
    !mayContainUnescapedPassword(text) &&
    URL.canParse(text) &&
    protocols.includes(new URL(text).protocol)
  );
}
