import type { PeerFault } from '../../base/peer-patience.js';
import { isTrustFault } from '../http/network-failure.js';
import { S3Error, type S3Fault } from './bucket.js';

const safeCode = /^[\w.:-]{1,60}$/;
const safeRegion = /^[a-z\d-]{1,40}$/;

const busy = /^(SlowDown|ServiceUnavailable|TooManyRequests|HTTP-(429|503))$/;
const clockIsWrong = /^(RequestTimeTooSkewed|RequestExpired)$/;
/** Some of these come with status 400. */
const badKey = /^(Credentials|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;

/** What a failed call means; the signal's reason when it was aborted. The server's own words are dropped. */
export function explainS3Failure(what: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof S3Error) return error;
  const failure = readFailure(error);
  const fault = judge(failure);
  const why = `${describe(fault, failure)} (${failure.code})`;
  return new S3Error(fault, failure.code, what, why, judgePeer(fault, failure));
}

/** Whether the object or upload does not exist. */
export function isMissing(error: unknown): boolean {
  const failure = readFailure(error);
  return judge(failure) === 'missing' || failure.code === 'NoSuchUpload';
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

/** Whether the server redirects to another region; redirects are not followed. */
function isInOtherRegion({ code, status = 0, region }: Failure): boolean {
  // Servers use this code for malformed keys, too.
  if (code === 'AuthorizationHeaderMalformed') return region !== undefined;
  return status >= 300 && status < 400;
}

interface Failure {
  readonly code: string;
  readonly status: number | undefined;
  /** The bucket's region, if the server says. */
  readonly region: string | undefined;
  /** Its host and port, where the request was made. */
  readonly server?: string | undefined;
}

/** The servers of failed requests: the client's errors don't always name them. */
const servers = new WeakMap<Error, string>();

/** Remembers, for the message, which server a request failed at. */
export function noteServer(error: unknown, server: string): void {
  if (error instanceof Error) servers.set(error, server);
}

function judge({ code, status }: Failure): S3Fault {
  if (code === 'NoSuchKey' || code === 'NotFound') return 'missing';
  if (status === 412 || status === 416) return 'changed';
  if (status === 401 || status === 403 || badKey.test(code)) return 'denied';
  const isPassing = status === undefined || status >= 500 || status === 408 || code === 'RequestTimeout';
  return isPassing || busy.test(code) ? 'unreachable' : 'failed';
}

const wrongAddress = /^(NoSuchBucket|InvalidBucketName|RegionMissing)$/;

function judgePeer(fault: S3Fault, failure: Failure): PeerFault | undefined {
  const { code } = failure;
  if (isInOtherRegion(failure) || wrongAddress.test(code)) return 'unsuited';
  if (isTrustFault(code)) return 'refused';
  // A clock is set right while the machine starts.
  if (fault === 'unreachable' || clockIsWrong.test(code)) return 'passing';
  return fault === 'denied' ? 'refused' : undefined;
}

function describe(fault: S3Fault, failure: Failure): string {
  const { code, region } = failure;
  if (isInOtherRegion(failure)) {
    const where = region === undefined ? 'another region' : `the region ${region}`;
    return `the bucket is in ${where}; set AWS_REGION to it, and check AWS_ENDPOINT_URL_S3`;
  }
  if (isTrustFault(code))
    return 'its certificate is not trusted; name the file of its authority in NODE_EXTRA_CA_CERTS';
  if (busy.test(code)) return 'the server is overloaded; try again later';
  if (clockIsWrong.test(code))
    return "this machine's clock and the server's are too far apart; set the clock";
  switch (fault) {
    case 'missing':
      return 'there is no such object';
    case 'denied':
      return 'the account is not allowed to do that; check its key and permissions';
    case 'changed':
      return 'the object has changed meanwhile';
    case 'unreachable':
      return `the server${failure.server === undefined ? '' : ` ${failure.server}`} does not respond properly; check region and endpoint`;
    case 'failed':
      return code === 'NoSuchBucket'
        ? 'there is no such bucket; check its name, region and endpoint'
        : 'the server refuses it';
  }
}

function readFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'unknown', status: undefined, region: undefined };
  const { $metadata, $response, Region } = error as ServerFailure;
  const status = $metadata?.httpStatusCode;
  // Network errors have a code; for the server's errors the name is the code.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : nameOf(error);
  const isKnown = safeCode.test(code) && !/^unknown/i.test(code);
  const region = $response?.headers?.['x-amz-bucket-region'] ?? Region;
  return {
    code: isKnown ? code : status === undefined ? 'unknown' : `HTTP-${status}`,
    status,
    region: typeof region === 'string' && safeRegion.test(region) ? region : undefined,
    server: servers.get(error),
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
