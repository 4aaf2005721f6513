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
