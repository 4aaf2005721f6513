import type { CallResult } from '../../src/service/call-result.js';

/** Responds to one call. @param references of the bookings in the body */
export type Answer = (references: readonly string[], signal: AbortSignal) => CallResult | Promise<CallResult>;

export const ok: CallResult = { kind: 'accepted', code: 'ok', httpStatus: 200, statusCode: 2000 };

export const refusal: CallResult = {
  kind: 'refused',
  code: 'code-2009',
  httpStatus: 200,
  statusCode: 2009,
  answer: 'the hotel of Ana Lovelace is unknown',
};
export const unavailable = {
  kind: 'retryable',
  code: 'http-503',
  httpStatus: 503,
  outcomeUnknown: false,
  refusedWhenSpent: false,
} as const satisfies CallResult;

/** A service whose answers a test chooses. */
export function createScriptedService() {
  const calls: (readonly string[])[] = [];
  const accepted: string[] = [];
  return {
    /** The references of each call, in order. */
    calls,
    /** The references of all calls that were accepted. */
    accepted,
    answering: (answer: Answer) => ({
      async reviewBookedHotels(body: Uint8Array, { signal }: { readonly signal: AbortSignal }) {
        const { Hotels } = JSON.parse(Buffer.from(body).toString()) as {
          Hotels: { BookingReferenceId: string }[];
        };
        const references = Hotels.map(({ BookingReferenceId }) => BookingReferenceId);
        calls.push(references);
        const result = await answer(references, signal);
        if (result.kind === 'accepted') accepted.push(...references);
        return result;
      },
    }),
  };
}

/** Responds to each call with the next result. */
export function inTurn(results: readonly CallResult[]): Answer {
  const left = [...results];
  return () => left.shift() ?? Promise.reject(new RangeError('no more answers'));
}
