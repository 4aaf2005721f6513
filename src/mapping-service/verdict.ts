import { readRetryAfter } from '../http/retry-after.js';
import type { HttpAnswer } from '../http/transport.js';
import { type Envelope, readEnvelope } from './envelope.js';
import type { Verdict, VerdictKind } from './mapping-service.js';

/** What each `StatusCode` inside an HTTP 200 means. A setting: the service's codes are not specified. (Design 6.) */
export type StatusCodeTable = Readonly<Record<number, VerdictKind>>;

export const defaultStatusCodes: StatusCodeTable = {
  2000: 'accepted',
  2001: 'retryable', // internal error
  2002: 'refused', // invalid request
  2003: 'fatal', // invalid account or key
  2009: 'refused', // invalid hotel data
  2011: 'refused', // invalid provider details
  2020: 'refused', // file path missing
  2021: 'refused', // booked hotels missing
  2030: 'retryable', // too many requests
};

/** How much is kept of the service's own words, in bytes of UTF-8. */
const answerBytes = 2_000;

const retryableStatuses = new Set([408, 425, 429]);
const refusedStatuses = new Set([400, 413, 422]);

/** The service says that it did not do it. */
const notDone = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false } as const;
/** The service may have done it. */
const perhapsDone = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false } as const;
/** The service says no, but not in a way that we know. */
const unknownNo = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: true } as const;

/**
 * The table of design 6: what an answer means for the runner.
 *
 * @param answer `now` is the moment from which a `Retry-After` that is a date counts
 * @param redact takes out of the service's words what may not be kept
 */
export function judgeAnswer(
  answer: HttpAnswer & { readonly now: Date },
  codes: StatusCodeTable,
  redact: (text: string) => string = (text) => text,
): Verdict {
  const { status } = answer;
  const envelope = answer.bodyTruncated ? undefined : readEnvelope(answer.body);
  const said = describe(answer, envelope, redact);
  const retryAfterMs = readRetryAfter(answer.retryAfter, answer.now);
  const wish = retryAfterMs === undefined ? {} : { retryAfterMs };

  if (status === 200) return judgeEnvelope(envelope, codes, said, wish);
  const code = `http-${status}`;
  if (status >= 500 || retryableStatuses.has(status)) return { ...said, ...notDone, ...wish, code };
  if (refusedStatuses.has(status)) return { ...said, kind: 'refused', code };
  // Redirects are not followed: they are a sign of a wrong address. (Design 10.)
  if (status >= 300) return { ...said, kind: 'fatal', code };
  // A success that the contract doesn't know, such as 202, promises nothing.
  return { ...said, ...perhapsDone, code };
}

/** The service can refuse inside a 200: `Status: true` and an accepted code are both needed. */
function judgeEnvelope(
  envelope: Envelope | undefined,
  codes: StatusCodeTable,
  said: ReturnType<typeof describe>,
  wish: { readonly retryAfterMs?: number },
): Verdict {
  if (envelope?.isRecognised !== true) return { ...said, ...perhapsDone, code: 'unreadable-answer' };
  const { status, statusCode } = envelope;
  if (statusCode === undefined) {
    return { ...said, ...unknownNo, code: status === false ? 'status-false' : 'code-missing' };
  }

  const code = `code-${statusCode}`;
  const kind = codes[statusCode];
  if (kind === undefined) return { ...said, ...unknownNo, code };
  switch (kind) {
    case 'accepted':
      if (status === true) return { ...said, kind, code: 'ok' };
      return { ...said, ...unknownNo, code: status === false ? 'status-false' : 'status-missing' };
    case 'retryable':
      return { ...said, ...notDone, ...wish, code };
    case 'fatal':
    case 'refused':
      return { ...said, kind, code };
  }
}

/** What was answered, for the evidence: the numbers and the service's own words. */
function describe(answer: HttpAnswer, envelope: Envelope | undefined, redact: (text: string) => string) {
  const words = readWords(envelope?.message ?? decode(answer.body), redact);
  return {
    httpStatus: answer.status,
    ...(envelope?.statusCode !== undefined && { statusCode: envelope.statusCode }),
    ...(words !== '' && { answer: words }),
  };
}

/** The beginning of a text that can be stored anywhere: PostgreSQL takes no NUL, and a cut character is no text. */
function readWords(text: string, redact: (text: string) => string): string {
  // Before the cut, which might leave half of what is to be taken out.
  const kept = Buffer.from(redact(text)).subarray(0, answerBytes);
  return decode(kept)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

/** Text without the broken character at its end. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
