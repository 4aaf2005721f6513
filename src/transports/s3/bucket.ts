import { isLoopback } from '../../base/addresses.js';
import type { PeerFault } from '../../base/peer-patience.js';

/** Consecutive bytes of an object. */
export interface ObjectBlock {
  readonly bytes: Uint8Array;
  /** Size of the whole object. */
  readonly size: number;
}

export interface ObjectContent {
  /** Reads it from the start. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly bytes: number;
  /** With lower-case names. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * A bucket of an S3-compatible server. Keys have no leading slash. Calls are retried a few times where that may help.
 *
 * Each method throws S3Error, or the signal's reason when aborted.
 */
export interface S3Bucket {
  /** The metadata of an object; undefined when there is none. */
  find(key: string): Promise<ObjectContent['metadata'] | undefined>;
  /**
   * Streams an object. After a lost connection it continues where it stopped, if the object is still the same; otherwise
   * `changed`.
   */
  read(key: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<ObjectBlock>;
  /**
   * Puts an object, whole or not at all, if there is none under that key. A server without conditional writes, or without
   * them for multipart uploads, replaces one that appears at the same moment.
   */
  put(key: string, content: ObjectContent): Promise<'put' | 'taken'>;
  /** Puts an object, whole or not at all, in place of one that is there. */
  replace(key: string, content: ObjectContent): Promise<void>;
  /** The keys with this prefix and no further slash. */
  list(prefix: string): Promise<readonly string[]>;
  /** All keys with this prefix. */
  listBelow(prefix: string): Promise<readonly string[]>;
  /** A missing object is not an error. */
  remove(key: string): Promise<void>;
  /** Aborts unfinished uploads to keys with this prefix, where the server lists them. */
  abandonUploads(prefix: string): Promise<void>;
}

/**
 * `missing`: no such object. `denied`: the account is unknown or not allowed. `changed`: it is a different object now.
 * `unreachable`: no answer, or one that was cut off. `failed`: any other refusal, by its code.
 */
export type S3Fault = 'missing' | 'denied' | 'changed' | 'unreachable' | 'failed';

/** Contains no words of the server, which may name keys and signatures: only its code. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  constructor(
    readonly fault: S3Fault,
    /** Short and safe: `NoSuchBucket`, `AccessDenied`, `ECONNREFUSED`, … */
    readonly code: string,
    /** What was attempted: `read s3://BUCKET/KEY`. */
    readonly what: string,
    /** What happened, and what to do next. */
    readonly why: string,
    /** What is wrong with the server; undefined where the fault is one of the object or the request. */
    readonly peer?: PeerFault,
  ) {
    super(`${what}: ${why}`);
  }
}

/** How to reach the buckets. */
export interface S3Account {
  readonly region?: string | undefined;
  /** For a server that is not Amazon's. */
  readonly endpoint?: string | undefined;
  /** Default: the standard chain of environment, profile and the machine's role. */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
}

/** An object, or the key prefix of many. */
export interface S3Location {
  readonly bucket: string;
  /** Without a leading slash; empty for the bucket itself. */
  readonly key: string;
}

/** S3's rule for names; it rules out host names with ports, users and passwords. */
const bucketName = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const refusedCharacter = /[?#\\\p{Cc}\p{Cs}]/u;

/**
 * Reads `s3://BUCKET/KEY`; undefined for anything else, such as a user name, a query, an empty part, or a part `.` or
 * `..`, which some servers resolve to another folder. A trailing slash is dropped.
 */
export function readS3Location(text: string): S3Location | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  const key = path.replace(/\/$/, '');
  return bucketName.test(bucket) && (key === '' || isKey(key)) ? { bucket, key } : undefined;
}

function isKey(key: string): boolean {
  return !refusedCharacter.test(key) && key.split('/').every((part) => !['', '.', '..'].includes(part));
}

export function showS3Location({ bucket, key }: S3Location): string {
  return key === '' ? `s3://${bucket}` : `s3://${bucket}/${key}`;
}

/**
 * Says why an address cannot be that of an S3 server, for the person who configured it; undefined when it can. The words
 * never repeat the address, which may contain a password. Plain `http://` is for loopback only.
 */
export function checkS3Endpoint(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://s3.example.com';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not contain a user name or a password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  }
  if (/[?#]/.test(address.href) || address.pathname !== '/') {
    return 'must end with the host or its port; the bucket belongs in s3://BUCKET/…';
  }
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}
