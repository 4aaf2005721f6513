import { S3Error, type S3Fault } from './bucket.js';

const safeCode = /^[\w.:-]{1,60}$/;
const safeRegion = /^[a-z\d-]{1,40}$/;

const busy = /^(SlowDown|ServiceUnavailable|TooManyRequests|HTTP-(429|503))$/;
const clockIsWrong = /^(RequestTimeTooSkewed|RequestExpired)$/;
/** Some of them come with 400. */
const badKey = /^(Credentials|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;

/** What a failed call to the server means; what the signal says comes through. Its own words are dropped. */
export function explainS3Failure(what: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof S3Error) return error;
  const failure = readFailure(error);
  const fault = judge(failure);
  return new S3Error(fault, failure.code, what, `${describe(fault, failure)} (${failure.code})`);
}

/** Whether what the call was about, an object or an upload, is not there. */
export function isMissing(error: unknown): boolean {
  const failure = readFailure(error);
  return judge(failure) === 'missing' || failure.code === 'NoSuchUpload';
}

/** Whether the server says that it does not know what it was asked. */
export function isNotKnown(error: unknown): boolean {
  const { code, status } = readFailure(error);
  return status === 501 || ['NotImplemented', 'MethodNotAllowed'].includes(code);
}

/** Whether something else stands there by now. */
export function isConflict(error: unknown): boolean {
  if (error instanceof S3Error) return error.fault === 'changed';
  const { status } = readFailure(error);
  return status === 409 || status === 412;
}

/** Nobody is followed where the server sends them: the region is the configured one. */
function isElsewhere({ code, status = 0, region }: Failure): boolean {
  // That is said of a key, too, that can't be one.
  if (code === 'AuthorizationHeaderMalformed') return region !== undefined;
  return status >= 300 && status < 400;
}

interface Failure {
  readonly code: string;
  readonly status: number | undefined;
  /** Where the bucket is, as far as the server says. */
  readonly region: string | undefined;
}

function judge({ code, status }: Failure): S3Fault {
  if (code === 'NoSuchKey' || code === 'NotFound') return 'missing';
  if (status === 412 || status === 416) return 'changed';
  if (status === 401 || status === 403 || badKey.test(code)) return 'denied';
  const isPassing = status === undefined || status >= 500 || status === 408 || code === 'RequestTimeout';
  return isPassing || busy.test(code) ? 'unreachable' : 'failed';
}

function describe(fault: S3Fault, failure: Failure): string {
  const { code, region } = failure;
  if (isElsewhere(failure)) {
    const place = region === undefined ? 'another region' : `the region ${region}`;
    return `the bucket is in ${place}; set s3.region to it, and look at s3.endpoint`;
  }
  if (busy.test(code)) return 'the server has too much to do; try again later';
  if (clockIsWrong.test(code))
    return "this machine's clock and the server's are too far apart; set the clock";
  switch (fault) {
    case 'missing':
      return 'there is no such object';
    case 'denied':
      return 'the account may not do that; check its key and its rights';
    case 'changed':
      return 'the object has changed meanwhile';
    case 'unreachable':
      return 'the server does not answer as it should; check region and endpoint';
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
  // A network's error has its code; that of the server has its code for a name.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : nameOf(error);
  const isTold = safeCode.test(code) && !/^unknown/i.test(code);
  const region = $response?.headers?.['x-amz-bucket-region'] ?? Region;
  return {
    code: isTold ? code : status === undefined ? 'unknown' : `HTTP-${status}`,
    status,
    region: typeof region === 'string' && safeRegion.test(region) ? region : undefined,
  };
}

/** As much as is looked at of what the client throws. */
interface ServerFailure {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  readonly Region?: unknown;
}

function nameOf({ name, message }: Error): string {
  return name === 'Error' && message.startsWith('Region is missing') ? 'RegionMissing' : name;
}
