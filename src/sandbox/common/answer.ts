/** What the service answers to a request. */
export type Answer =
  /** HTTP 200 with `Status: true`; `content` precedes the envelope's fields. */
  | { readonly kind: 'success'; readonly message: string; readonly content?: object }
  /** HTTP 200 with `Status: false`: the service refuses inside a success. */
  | { readonly kind: 'refusal'; readonly statusCode: number; readonly message: string }
  /** A 4xx or 5xx status. */
  | {
      readonly kind: 'error';
      readonly httpStatus: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** HTTP 200 with an HTML page, as a proxy in between might send. */
  | { readonly kind: 'page' };

export type Refusal = Extract<Answer, { kind: 'refusal' }>;

/** @param message names no guest and quotes no secret */
export function refusal(statusCode: number, message: string): Refusal {
  return { kind: 'refusal', statusCode, message };
}
