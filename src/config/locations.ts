import * as z from 'zod';
import { mayContainUnescapedPassword } from '../http/url.js';
import { checkS3Endpoint, readS3Location, type S3Location } from '../s3/bucket.js';
import { explainUnprotected } from '../settings/connection-security.js';
import {
  confidentiality,
  expected,
  group,
  headerText,
  isGroup,
  oneOf,
  text,
  textLike,
  textThat,
} from '../settings/values.js';

/** Where the ledger lives. */
export type LedgerLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** What distributes steps to workers. */
export type QueueLocation =
  | { readonly kind: 'in-process' }
  | {
      readonly kind: 'redis';
      readonly url: string;
      /** The CA certificate file; with it TLS is required. */
      readonly ca?: string | undefined;
    };

/** Where the evidence of file runs is kept. */
export type ArchiveLocation =
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3' } & S3Location);

/** A part that is chosen by its address, as it is written. */
export interface WrittenAddress {
  readonly url: string;
  readonly plaintext?: 'allowed';
  readonly ca?: string;
}

/** The group of an address that may also be written as a text. */
export function toAddress(written: string | WrittenAddress): WrittenAddress {
  return typeof written === 'string' ? { url: written } : written;
}

/** An address, or a group of an address and what protects the connection. */
function address(name: string, isReadable: (url: string) => boolean, what: string) {
  const objection = (given: unknown) => {
    const written = toAddress(given as string | WrittenAddress);
    // An address that cannot be read is reported as such.
    return isReadable(written.url)
      ? explainUnprotected(written, `${name}: { url: …, plaintext: allowed }`)
      : undefined;
  };
  const url = textThat(isReadable, what).describe('The address.');
  const guarded = group({
    url,
    plaintext: oneOf('allowed')
      .describe('Allows a connection to another machine without TLS, or with an unverified certificate.')
      .exactOptional(),
    ca: text('a path')
      .describe(
        "A PEM file with the certificate of the authority that signed the server's certificate. With it TLS is required.",
      )
      .exactOptional(),
  }).refine((given) => objection(given) === undefined, {
    path: ['url'],
    error: ({ input }) => objection(input),
  });
  return z.union(
    [
      url.refine((given) => objection(given) === undefined, { error: ({ input }) => objection(input) }),
      guarded,
    ],
    expected(what),
  );
}

export const ledger = address(
  'ledger',
  (url) => readLedgerLocation(url) !== undefined,
  'sqlite:PATH or postgres://…',
);

export const queue = address(
  'queue',
  (url) => readQueueLocation(url) !== undefined,
  'in-process, redis://… or rediss://…',
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

const togetherIfAtAll = 'must stand together with s3.secretAccessKey, or neither';

/** Access to the buckets of bookings and of the archive. */
export const s3 = group({
  region: textLike(/^[a-z0-9-]{1,40}$/, 'a region such as eu-central-1')
    .exactOptional()
    .describe(
      "The buckets' region. By default it is found in the environment or the profile, as Amazon's tools do.",
    ),
  endpoint: z
    .string(expected('an address such as https://s3.example.com'))
    .refine((url) => checkS3Endpoint(url) === undefined, {
      error: ({ input }) => checkS3Endpoint(String(input)),
    })
    .exactOptional()
    .describe("The address of an S3-compatible server; by default Amazon's."),
  accessKeyId: headerText()
    .register(confidentiality, { level: 'private' })
    .exactOptional()
    .describe(
      "The id of the access key. By default the environment, the profile and the machine's role provide it, as for Amazon's tools.",
    ),
  secretAccessKey: headerText()
    .register(confidentiality, { level: 'secret' })
    .exactOptional()
    .describe('The secret of the access key.'),
  sessionToken: headerText()
    .register(confidentiality, { level: 'secret' })
    .exactOptional()
    .describe('The token of a temporary access key.'),
  ca: text('a path')
    .exactOptional()
    .describe(
      "A PEM file with the certificate of the authority that signed the server's certificate. No other authority is then trusted.",
    ),
  pathStyle: z
    .boolean(expected('true or false'))
    .exactOptional()
    .describe(
      'Whether the bucket is in the path instead of the host name; by default true with an endpoint.',
    ),
}).refine(
  ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
  { path: ['accessKeyId'], error: togetherIfAtAll, when: ({ value }) => isGroup(value) },
);
