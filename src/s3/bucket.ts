import { isLoopback } from '../http/url.js';

/** What the server tells of an object. */
export interface ObjectFacts {
  readonly size: number;
  /** By lower-case names. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes of an object, in their order. */
export interface ObjectBlock {
  readonly bytes: Uint8Array;
  /** Of the whole object. */
  readonly size: number;
}

export interface ObjectContent {
  /** Reads it from its beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * A bucket of an S3-compatible server. Keys have no leading slash. Calls are tried again a few times where that may help.
 *
 * Each method throws S3Error, or the signal's reason when it was aborted.
 */
export interface S3Bucket {
  /** Undefined where there is no such object. */
  find(key: string): Promise<ObjectFacts | undefined>;
  /**
   * Streams an object as far as somebody asks. Where the connection is lost it goes on behind what came, as long as the
   * object is the same: else `changed`.
   */
  read(key: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<ObjectBlock>;
  /**
   * Puts an object, whole or not at all, where there is none under that key. A server that knows no conditional writes, or
   * none for objects in parts, replaces one that appears at the same moment.
   */
  put(key: string, content: ObjectContent): Promise<'put' | 'taken'>;
  /** The keys that begin so and have no further slash. */
  list(prefix: string): Promise<readonly string[]>;
  /** One that is gone already is fine. */
  remove(key: string): Promise<void>;
  /** Ends the uploads of such keys that nobody goes on with, where the server tells of them. */
  abandonUploads(prefix: string): Promise<void>;
}

/**
 * `missing`: no such object. `denied`: the account may not, or is not known. `changed`: it is another object by now.
 * `unreachable`: no answer, or one that was cut off. `failed`: any other refusal, by its code.
 */
export type S3Fault = 'missing' | 'denied' | 'changed' | 'unreachable' | 'failed';

/** Holds no words of the server, which name keys and signatures: only its code. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  constructor(
    readonly fault: S3Fault,
    /** Short and safe: `NoSuchBucket`, `AccessDenied`, `ECONNREFUSED`, … */
    readonly code: string,
    /** What was asked for, `read s3://BUCKET/KEY`. */
    readonly what: string,
    /** What came of it, and what to do next. */
    readonly why: string,
  ) {
    super(`${what}: ${why}`);
  }
}

/** An object, or the beginning of the keys of many. */
export interface S3Location {
  readonly bucket: string;
  /** Without a slash at its beginning; empty for the bucket itself. */
  readonly key: string;
}

/** Names as S3 has them; nothing in it can be a host's, a user's or a password. */
const bucketName = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const refusedCharacter = /[?#\\\p{Cc}\p{Cs}]/u;

/**
 * Reads `s3://BUCKET/KEY`; undefined for anything else, be it a user's name, a query, an empty part, or one that is `.` or
 * `..`: some servers take it for a step into another folder. A slash at the end is dropped.
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
 * Says why an address can't be that of an S3 server, in words for the person who configured it; undefined when it can. The
 * words never repeat the address: it may hold a password. Plain `http://` is for loopback alone. (Design 10.)
 */
export function checkS3Endpoint(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://s3.example.com';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not hold a user name or a password; they are s3.accessKeyId and s3.secretAccessKey';
  }
  if (/[?#]/.test(address.href) || address.pathname !== '/') {
    return 'must end with the host or its port; the bucket stands in s3://BUCKET/…';
  }
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}
