import type { PeerFault } from '../../base/peer-patience.js';
import { isTrustFault } from '../http/network-failure.js';
import { S3Error, type S3Fault } from './bucket.js';

const safeCode = /^[\w.:-]{1,60}$/;
const safeRegion = /^[a-z\d-]{1,40}$/;

const busy = /^(SlowDown|ServiceUnavailable|TooManyRequests|HTTP-(429|503))$/;
const clockIsWrong = /^(RequestTimeTooSkewed|RequestExpired)$/;
/** Some of these come with status 400. */
const badKey = /^(Credentials|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;
const wrongAddress = /^(NoSuchBucket|InvalidBucketName|RegionMissing)$/;

/** What a failed call means; the signal's reason when it was aborted. The server's own words are dropped. */
export function explainS3Failure(what: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof S3Error) return error;
  const failure = readFailure(error);
  const { fault, peer, why } = judge(failure);
  return new S3Error(fault, failure.code, what, `${why} (${failure.code})`, peer);
}

/** Whether the object or upload does not exist. */
export function isMissing(error: unknown): boolean {
  const failure = readFailure(error);
  return judge(failure).fault === 'missing' || failure.code === 'NoSuchUpload';
}

/** Whether the server does not support the request. */
export function isUnsupported(error: unknown): boolean {
  const { code, status } = readFailure(error);
  return status === 501 || ['NotImplemented', 'MethodNotAllowed'].includes(code);
}

/** Whether another object is there now. */
export function isConflict(error: unknown): boolean {
  if (error instanceof S3Error) return error.fault === 'changed';
  const { status } = readFailure(error);
  return status === 409 || status === 412;
}

interface Failure {
  readonly code: string;
  /** 0 where the server did not answer. */
  readonly status: number;
  /** The bucket's region, if the server says. */
  readonly region: string | undefined;
  /** Its host and port, where the request was made. */
  readonly server: string | undefined;
}

interface Judgement {
  readonly fault: S3Fault;
  /** What is wrong with the server; undefined where the fault is one of the object or the request. */
  readonly peer?: PeerFault;
  readonly why: string;
}

function judge({ code, status, region, server }: Failure): Judgement {
  // Servers use the code for malformed keys, too. Redirects are not followed.
  const isElsewhere =
    code === 'AuthorizationHeaderMalformed' ? region !== undefined : status >= 300 && status < 400;
  if (isElsewhere) {
    const where = region === undefined ? 'another region' : `the region ${region}`;
    const why = `the bucket is in ${where}; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3`;
    return { fault: 'failed', peer: 'unsuited', why };
  }
  if (isTrustFault(code)) {
    const why = 'its certificate is not trusted; name the file of its authority in NODE_EXTRA_CA_CERTS';
    return { fault: 'unreachable', peer: 'refused', why };
  }
  if (busy.test(code))
    return { fault: 'unreachable', peer: 'passing', why: 'the server is overloaded; try again later' };
  if (clockIsWrong.test(code)) {
    // A clock is set right while the machine starts.
    const why = "this machine's clock and the server's are too far apart; set the clock";
    return { fault: 'denied', peer: 'passing', why };
  }
  if (code === 'NoSuchKey' || code === 'NotFound')
    return { fault: 'missing', why: 'there is no such object' };
  if (status === 412 || status === 416) return { fault: 'changed', why: 'the object has changed meanwhile' };
  if (status === 401 || status === 403 || badKey.test(code)) {
    const why = 'the account is not allowed to do that; check its key and permissions';
    return { fault: 'denied', peer: 'refused', why };
  }
  if (status === 0 || status >= 500 || status === 408 || code === 'RequestTimeout') {
    const named = server === undefined ? 'the server' : `the server ${server}`;
    const why = `${named} does not respond properly; check region and endpoint`;
    return { fault: 'unreachable', peer: wrongAddress.test(code) ? 'unsuited' : 'passing', why };
  }
  const why =
    code === 'NoSuchBucket'
      ? 'there is no such bucket; check its name, region and endpoint'
      : 'the server refuses it';
  return { fault: 'failed', ...(wrongAddress.test(code) && { peer: 'unsuited' }), why };
}

/** The servers of failed requests and of answers: the client's errors don't always name them. */
const servers = new WeakMap<object, string>();

/** Remembers, for the message, which server failed or answered. */
export function noteServer(failed: unknown, server: string): void {
  if (typeof failed === 'object' && failed !== null) servers.set(failed, server);
}

function readFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'unknown', status: 0, region: undefined, server: undefined };
  const { $metadata, $response, Region } = error as ServerFailure;
  const status = $metadata?.httpStatusCode ?? 0;
  // Network errors have a code; for the server's errors the name is the code.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : nameOf(error);
  const isKnown = safeCode.test(code) && !/^unknown/i.test(code);
  const region = $response?.headers?.['x-amz-bucket-region'] ?? Region;
  return {
    code: isKnown ? code : status === 0 ? 'unknown' : `HTTP-${status}`,
    status,
    region: typeof region === 'string' && safeRegion.test(region) ? region : undefined,
    server: servers.get(error) ?? servers.get($response ?? error),
  };
}

/** The parts that we read of what the client throws. */
interface ServerFailure {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  readonly Region?: unknown;
}

function nameOf({ name, message }: Error): string {
  return name === 'Error' && message.startsWith('Region is missing') ? 'RegionMissing' : name;
}
