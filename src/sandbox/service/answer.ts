/** How a refusal or an error is written: as the envelope of spec 2.1, or as `{code, message}`. Success is always the envelope. */
export type ErrorShape = 'envelope' | 'code-message';

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

/** An answer as it goes over the wire. */
export interface RenderedAnswer {
  readonly httpStatus: number;
  /** Absent on a page. */
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const page =
  '<!doctype html>\n<html><head><title>Maintenance</title></head><body><h1>We will be back soon</h1></body></html>\n';

export function renderAnswer(answer: Answer, errorShape: ErrorShape): RenderedAnswer {
  switch (answer.kind) {
    case 'success':
      return renderJson(200, 2000, {
        ...answer.content,
        ...{ Status: true, Message: answer.message, StatusCode: 2000 },
      });
    case 'refusal':
      return renderJson(200, answer.statusCode, writeError(answer.statusCode, answer.message, errorShape));
    case 'error': {
      const statusCode = statusCodeOf(answer.httpStatus);
      const error = writeError(statusCode, answer.message, errorShape);
      return renderJson(answer.httpStatus, statusCode, error, answer.headers);
    }
    case 'page':
      return { httpStatus: 200, ...renderBody('text/html; charset=utf-8', page) };
  }
}

function writeError(statusCode: number, message: string, errorShape: ErrorShape): object {
  switch (errorShape) {
    case 'envelope':
      return { Status: false, Message: message, StatusCode: statusCode };
    case 'code-message':
      return { code: statusCode, message };
  }
}

/** Which StatusCode goes with an HTTP status. (Assumed: the specification gives none.) */
function statusCodeOf(httpStatus: number): number {
  if (httpStatus === 401 || httpStatus === 403) return 2003;
  if (httpStatus === 429) return 2030;
  return httpStatus >= 500 ? 2001 : 2002;
}

function renderJson(
  httpStatus: number,
  statusCode: number,
  content: object,
  headers?: Readonly<Record<string, string>>,
): RenderedAnswer {
  const rendered = renderBody('application/json', JSON.stringify(content));
  return { httpStatus, statusCode, ...rendered, headers: { ...rendered.headers, ...headers } };
}

function renderBody(contentType: string, text: string): Pick<RenderedAnswer, 'headers' | 'body'> {
  const body = Buffer.from(text);
  return { headers: { 'Content-Type': contentType, 'Content-Length': String(body.length) }, body };
}
