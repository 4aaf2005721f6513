/** One class for each status that is no success, for programs that read the error alone. */
const classes = {
  400: 'malformed',
  401: 'unauthenticated',
  404: 'not-found',
  405: 'wrong-method',
  408: 'too-slow',
  409: 'usage',
  413: 'too-large',
  415: 'wrong-content-type',
  422: 'future-day',
  431: 'headers-too-large',
  500: 'internal',
  503: 'unavailable',
} as const;

export type ErrorStatus = keyof typeof classes;

/** A request is answered with a status that is no success. Its message goes to the caller as it is. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: ErrorStatus,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The error as it is written everywhere: `{"error":{"class","message"}}`. (Design 9.) */
export function renderError(status: ErrorStatus, message: string): string {
  return JSON.stringify({ error: { class: classes[status], message } });
}

/** What others call a status, as one of ours. */
export function toErrorStatus(status: number | undefined): ErrorStatus {
  // A path longer than any that there is.
  if (status === 414) return 404;
  if (status !== undefined && status in classes) return status as ErrorStatus;
  return status !== undefined && status >= 400 && status < 500 ? 400 : 500;
}
