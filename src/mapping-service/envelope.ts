import type { HttpAnswer } from '../http/transport.js';
import { isObject, isPresent, toInteger, unexpected } from './fields.js';
import type { Envelope } from './operations.js';

/** The JSON of a whole 200; undefined for any other answer, and for what is not JSON. */
export function readJson(answer: HttpAnswer): unknown {
  return answer.status === 200 && !answer.bodyTruncated ? parseJson(answer.body) : undefined;
}

/** Undefined when it is not JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // The parser's message quotes the answer, which may name a guest: it is dropped.
    return undefined;
  }
}

/** What a JSON answer says about the call: the envelope of spec 2.1, or the `{code, message}` that gateways send. */
export interface LenientEnvelope {
  /** Undefined when absent or unreadable. */
  readonly status: boolean | undefined;
  readonly statusCode: number | undefined;
  /** May name a guest. */
  readonly message: string | undefined;
  /** Whether it has any of `Status`, `StatusCode` and `code`; without any of them an object is not an envelope. */
  readonly isRecognised: boolean;
}

/**
 * The one way in which envelopes are read: `"StatusCode": "2000"` and `"Status": "true"`, written as text, mean the
 * same as the contract's number and boolean. Undefined when it is not a JSON object. Never throws.
 */
export function readEnvelopeLeniently(json: unknown): LenientEnvelope | undefined {
  if (!isObject(json)) return undefined;
  const { Status, StatusCode, code, Message, message } = json;
  return {
    status: toBoolean(Status),
    statusCode: toInteger(StatusCode) ?? toInteger(code),
    message: readMessage(Message) ?? readMessage(message),
    isRecognised: [Status, StatusCode, code].some(isPresent),
  };
}

/** The envelope of a success (spec 2.1), with whatever else the answer holds. @throws InvalidField */
export function readEnvelope(json: unknown): Envelope {
  const fields = isObject(json) ? json : {};
  const { status, statusCode } = readEnvelopeLeniently(fields) ?? {};
  if (status === undefined) throw unexpected('Status', 'a boolean', fields.Status);
  if (statusCode === undefined) throw unexpected('StatusCode', 'an integer', fields.StatusCode);
  return {
    ...fields,
    ...('Message' in fields && { Message: typeof fields.Message === 'string' ? fields.Message : null }),
    Status: status,
    StatusCode: statusCode,
  };
}

function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
}

function readMessage(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
