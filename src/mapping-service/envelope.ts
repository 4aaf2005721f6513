import { isObject } from './answer-fields.js';

/** What a JSON answer says about the call: the envelope of spec 2.1, or the `{code, message}` that gateways send. */
export interface Envelope {
  /** Undefined when absent and when it is no JSON boolean. */
  readonly status: boolean | undefined;
  readonly statusCode: number | undefined;
  /** It may name a guest. */
  readonly message: string | undefined;
  /** Whether it holds any of `Status`, `StatusCode` and `code`, without which an object is no envelope. */
  readonly isRecognised: boolean;
}

/** Reads an answer's body leniently; undefined when it is no JSON object. Never throws. */
export function readEnvelope(body: Uint8Array): Envelope | undefined {
  const fields = parseJson(body);
  if (!isObject(fields)) return undefined;
  const { Status, StatusCode, code, Message, message } = fields;
  return {
    status: typeof Status === 'boolean' ? Status : undefined,
    statusCode: readInteger(StatusCode) ?? readInteger(code),
    message: readText(Message) ?? readText(message),
    isRecognised: [Status, StatusCode, code].some((value) => value !== undefined && value !== null),
  };
}

/** Undefined when it is no JSON. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // The parser's message quotes the answer, which may name a guest: it goes nowhere.
    return undefined;
  }
}

function readInteger(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value)) return Number(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
