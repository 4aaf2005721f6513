import { S3Error, type S3Fault } from './bucket.js';

const safeCode = /^[\w.:-]{1,60}$/;

/** What a failed call to the server means; what the signal says comes through. Its own words are dropped. */
export function explainS3Failure(what: string, error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof S3Error) return error;
  const { code, status } = readFailure(error);
  const fault = judge(code, status);
  return new S3Error(fault, code, `${what}: ${describe(fault)} (${code})`);
}

/** Whether the server says that it does not know what it was asked. */
export function isNotKnown(error: unknown): boolean {
  const { code, status } = readFailure(error);
  return status === 501 || ['NotImplemented', 'MethodNotAllowed'].includes(code);
}

/** Whether the server says that something else stands there by now. */
export function isConflict(error: unknown): boolean {
  const { status } = readFailure(error);
  return status === 409 || status === 412;
}

function judge(code: string, status: number | undefined): S3Fault {
  if (code === 'NoSuchKey' || code === 'NotFound') return 'missing';
  if (status === 412 || status === 416) return 'changed';
  if (status === 401 || status === 403 || /^Credentials/.test(code)) return 'denied';
  return status === undefined || status >= 500 ? 'unreachable' : 'failed';
}

function describe(fault: S3Fault): string {
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
      return 'the server refuses it';
  }
}

function readFailure(error: unknown): { readonly code: string; readonly status: number | undefined } {
  if (!(error instanceof Error)) return { code: 'unknown', status: undefined };
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // A network's error has its code; that of the server has its code for a name.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : nameOf(error);
  const isTold = safeCode.test(code) && !/^unknown/i.test(code);
  return { code: isTold ? code : status === undefined ? 'unknown' : `HTTP-${status}`, status };
}

function nameOf({ name, message }: Error): string {
  return name === 'Error' && message.startsWith('Region is missing') ? 'RegionMissing' : name;
}
