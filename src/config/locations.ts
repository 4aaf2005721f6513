import * as z from 'zod';
import { explainUnprotected } from '../base/connection-security.js';
import { confidentiality, expected, group, oneOf, text, textThat } from '../base/setting-values.js';
import { mayContainUnescapedPassword } from '../transports/http/transport.js';
import { readS3Location, type S3Location } from '../transports/s3/bucket.js';

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
      /** The file of the authority's certificate; with it TLS is required. */
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
function address(isReadable: (url: string) => boolean, forms: string) {
  const objection = (given: unknown) => {
    const { url, plaintext, ca } = toAddress(given as string | WrittenAddress);
    // An address that can't be read is reported as such.
    const isSettled = !isReadable(url) || plaintext === 'allowed' || ca !== undefined;
    return isSettled ? undefined : explainUnprotected(url);
  };
  const url = textThat(isReadable, forms).describe('The address.');
  const guarded = group({
    url,
    plaintext: oneOf('allowed')
      .describe('Allows a connection to another machine without TLS, or with an unverified certificate.')
      .exactOptional(),
    ca: text('a path')
      .describe("A PEM file with the server's authority. With it TLS is required.")
      .exactOptional(),
  });
  const guard = { error: ({ input }: { readonly input: unknown }) => objection(input) };
  return z
    .union(
      [
        url.refine((given) => objection(given) === undefined, guard),
        guarded.refine((given) => objection(given) === undefined, { path: ['url'], ...guard }),
      ],
      expected(forms),
    )
    .register(confidentiality, { level: 'private' });
}

export const ledger = address((url) => readLedgerLocation(url) !== undefined, 'sqlite:PATH or postgres://…');

export const queue = address(
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
