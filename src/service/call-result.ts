import type { NetworkFailure } from '../transports/http/network-failure.js';
import { type HttpAnswer, readRetryAfter } from '../transports/http/transport.js';
import { type LenientEnvelope, parseJson, readEnvelopeLeniently } from './answers.js';

/**
 * The result of a call, named by what the caller must do next.
 *
 * `answer` holds the service's own words. They may name a guest: they go to the ledger and nowhere else.
 */
export type CallResult =
  | (Answered & { readonly kind: 'accepted' })
  | (Answered & {
      readonly kind: 'retryable';
      /** There was no clear answer: the service may have processed the call. */
      readonly outcomeUnknown: boolean;
      /** What `Retry-After` asks for, not yet capped. */
      readonly retryAfterMs?: number;
      /** Counts as refused, not as failed, once its tries are spent: an unknown code inside a 200. */
      readonly refusedWhenSpent: boolean;
    })
  | (Answered & { readonly kind: 'fatal' })
  | (Answered & { readonly kind: 'refused' });

interface Answered {
  /** Short and safe to show: `http-503`, `code-2009`, `timeout`, `connection-reset`. */
  readonly code: string;
  readonly httpStatus?: number;
  /** The envelope's StatusCode, if there was one. (Spec 2.1.) */
  readonly statusCode?: number;
  readonly answer?: string;
}

/** The meaning of each `StatusCode` inside an HTTP 200. A setting: the specification lists no codes. */
export type StatusCodeTable = Readonly<Record<number, CallResult['kind']>>;

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

/** What a result depends on besides the answer. */
interface Meanings {
  readonly codes: StatusCodeTable;
  /**
   * The call starts something that must not be started twice. A 5xx then leaves open whether it did: the specification
   * does not say that nothing was done, and a gateway can fail after the service has begun. (Spec 7.)
   */
  readonly startsWork?: boolean;
}

/** The code of a success that is longer than what is read of it. */
export const tooLargeCode = 'answer-too-large';

/** How much of the service's own words is kept, in bytes of UTF-8. */
const keptBytes = 2_000;
/** How much of them is searched for credentials: in megabytes of text, that takes seconds. */
const searchedLength = 65_536;

const retryableStatuses = new Set([408, 425, 429]);
const refusedStatuses = new Set([400, 413, 422]);

/** The service says that it did not process the call. */
const notDone = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false } as const;
/** The service may have processed the call. */
const perhapsDone = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false } as const;
/** The service refuses in an unknown way. */
const unknownRefusal = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: true } as const;

/**
 * The table of what an answer means for the caller. Pure.
 *
 * @param answer `now` is the moment from which a `Retry-After` date counts
 * @param redact removes from the service's words what must not be kept
 */
export function judgeAnswer(
  answer: HttpAnswer & { readonly now: Date },
  { codes, startsWork = false }: Meanings,
  redact: (text: string) => string = (text) => text,
): CallResult {
  const { status } = answer;
  const envelope = answer.bodyTruncated ? undefined : readEnvelopeLeniently(parseJson(answer.body));
  const evidence = describe(answer, envelope, redact);
  const retryAfterMs = readRetryAfter(answer.retryAfter, answer.now);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };

  if (status === 200) return judgeEnvelope(envelope, codes, evidence, wait);
  const code = `http-${status}`;
  if (status >= 500) return { ...evidence, ...(startsWork ? perhapsDone : notDone), ...wait, code };
  if (retryableStatuses.has(status)) return { ...evidence, ...notDone, ...wait, code };
  if (refusedStatuses.has(status)) return { ...evidence, kind: 'refused', code };
  // Redirects are not followed: they indicate a wrong address.
  if (status >= 300) return { ...evidence, kind: 'fatal', code };
  // A success that the contract does not mention, such as 202, promises nothing.
  return { ...evidence, ...perhapsDone, code };
}

/** What a failure of the network means for the caller. `answer` is never set: errors may quote the data they fail on. */
export function judgeFailure({ code, meaning }: NetworkFailure): CallResult {
  switch (meaning) {
    case 'wrong':
      return { kind: 'fatal', code };
    case 'unreached':
      return { ...notDone, code };
    case 'broken':
      return { ...perhapsDone, code };
  }
}

/** The service can refuse inside a 200: both `Status: true` and an accepted code are required. */
function judgeEnvelope(
  envelope: LenientEnvelope | undefined,
  codes: StatusCodeTable,
  evidence: ReturnType<typeof describe>,
  wait: { readonly retryAfterMs?: number },
): CallResult {
  if (envelope?.isRecognised !== true) return { ...evidence, ...perhapsDone, code: 'unreadable-answer' };
  const { status, statusCode } = envelope;
  if (statusCode === undefined) {
    return { ...evidence, ...unknownRefusal, code: status === false ? 'status-false' : 'code-missing' };
  }

  const code = `code-${statusCode}`;
  const kind = codes[statusCode];
  if (kind === undefined) return { ...evidence, ...unknownRefusal, code };
  switch (kind) {
    case 'accepted':
      if (status === true) return { ...evidence, kind, code: 'ok' };
      return { ...evidence, ...unknownRefusal, code: status === false ? 'status-false' : 'status-missing' };
    case 'retryable':
      return { ...evidence, ...notDone, ...wait, code };
    case 'fatal':
    case 'refused':
      return { ...evidence, kind, code };
  }
}

/** The answer as evidence: its numbers and the service's own words. */
function describe(
  answer: HttpAnswer,
  envelope: LenientEnvelope | undefined,
  redact: (text: string) => string,
) {
  const { message = decode(answer.body.subarray(0, searchedLength)) } = envelope ?? {};
  const words = cutWords(redact(message.slice(0, searchedLength)));
  return {
    httpStatus: answer.status,
    ...(envelope?.statusCode !== undefined && { statusCode: envelope.statusCode }),
    ...(words !== '' && { answer: words }),
  };
}

/**
 * The start of a text, in a form that any database stores: PostgreSQL refuses NUL, and half a character is invalid.
 *
 * @param redacted already without credentials: the cut might leave half of one, which redaction would miss
 */
function cutWords(redacted: string): string {
  return decode(Buffer.from(redacted).subarray(0, keptBytes))
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

/** Decodes without a broken character at the end. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
