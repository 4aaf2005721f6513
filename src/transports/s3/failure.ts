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
  const [fault, peer, why] = judge(failure);
  return new S3Error(fault, failure.code, what, `${why} (${failure.code})`, peer);
}

/** Whether the object or upload does not exist. */
export function isMissing(error: unknown): boolean {
  const failure = readFailure(error);
  return judge(failure)[0] === 'missing' || failure.code === 'NoSuchUpload';
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

/** What has failed, and what is wrong with the server: nothing where the fault is one of the object or the request. */
function judge({ code, status, region, server }: Failure): [S3Fault, PeerFault | undefined, why: string] {
  // Servers use the code for malformed keys, too. Redirects are not followed.
  const isRedirect = status >= 300 && status < 400;
  if (code === 'AuthorizationHeaderMalformed' ? region !== undefined : isRedirect) {
    const where = region === undefined ? 'another region' : `the region ${region}`;
    const why = `the bucket is in ${where}; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3`;
    return ['failed', 'unsuited', why];
  }
  if (isTrustFault(code)) {
    const why = 'its certificate is not trusted; name the file of its authority in NODE_EXTRA_CA_CERTS';
    return ['unreachable', 'refused', why];
  }
  if (busy.test(code)) return ['unreachable', 'passing', 'the server is overloaded; try again later'];
  if (clockIsWrong.test(code)) {
    // A clock is set right while the machine starts.
    return ['denied', 'passing', "this machine's clock and the server's are too far apart; set the clock"];
  }
  if (code === 'NoSuchKey' || code === 'NotFound') return ['missing', undefined, 'there is no such object'];
  if (status === 412 || status === 416) return ['changed', undefined, 'the object has changed meanwhile'];
  if (status === 401 || status === 403 || badKey.test(code))
    return ['denied', 'refused', 'the account is not allowed to do that; check its key and permissions'];
  const address = wrongAddress.test(code) ? 'unsuited' : undefined;
  if (status === 0 || status >= 500 || status === 408 || code === 'RequestTimeout') {
    const named = server === undefined ? 'the server' : `the server ${server}`;
    const why = `${named} does not respond properly; check region and endpoint`;
    return ['unreachable', address ?? 'passing', why];
  }
  return code === 'NoSuchBucket'
    ? ['failed', address, 'there is no such bucket; check its name, region and endpoint']
    : ['failed', address, 'the server refuses it'];
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
