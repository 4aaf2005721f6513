/** What is said to a request. */
export type Answer =
  /** HTTP 200 with `Status: true`, and the fields that go before the envelope. */
  | { readonly kind: 'success'; readonly message: string; readonly content?: object }
  /** HTTP 200 with `Status: false`: the service refuses inside a success. */
  | { readonly kind: 'refusal'; readonly statusCode: number; readonly message: string }
  /** An HTTP status that is no success. */
  | {
      readonly kind: 'error';
      readonly httpStatus: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** HTTP 200 with a page for people, as a proxy in between shows it. */
  | { readonly kind: 'page' };

/** A refusal inside HTTP 200. Its words name no guest and quote no secret. */
export type Refusal = Extract<Answer, { kind: 'refusal' }>;

export function refusal(statusCode: number, message: string): Refusal {
  return { kind: 'refusal', statusCode, message };
}
