import type { ArrivingRequest, StandInAnswer, StandInHandler } from './http-stand-in.js';

/**
 * A service that answers each request with what it received: in the message, in headers, in redirects, in what is not JSON;
 * with success, refusals, and errors of every class. Sooner or later it accepts everything but the poison.
 *
 * @param poison a text of the booking that it never accepts
 */
export function createHostileService(poison: string): StandInHandler {
  let posts = 0;
  return async (request) => {
    const body = (await request.readBody()).toString();
    const quote = quoteOf(request, body);
    const headers = quotingHeaders(request, body);
    const envelope = (Status: boolean, StatusCode: number) => ({ Status, StatusCode, Message: quote });
    if (body.includes(poison)) return { kind: 'text', status: 400, headers, body: quote };
    if (request.url.endsWith('/GetMasterHotelBrands'))
      return { kind: 'json', status: 500, headers, body: envelope(false, 2999) };
    posts += 1;
    const answers: readonly StandInAnswer[] = [
      { kind: 'text', status: 500, headers, body: quote },
      { kind: 'json', status: 503, headers: { ...headers, 'retry-after': '0' }, body: envelope(false, 2999) },
      { kind: 'json', headers, body: envelope(false, 2999) },
      { kind: 'text', headers, body: `{"Status": true, "Message": "${quote}` },
      {
        kind: 'json',
        status: 429,
        headers: { ...headers, 'retry-after': encodeURIComponent(body).slice(0, 900) },
        body: {},
      },
      { kind: 'drop', when: 'after-reading' },
    ];
    return answers[posts - 1] ?? { kind: 'json', headers, body: envelope(true, 2000) };
  };
}

/** The fatal answers: each ends a run. */
export const fatalAnswers: readonly StandInHandler[] = [
  async (request) => ({
    kind: 'text',
    status: 302,
    headers: {
      location: `http://127.0.0.1:9/?received=${encodeURIComponent(quoteOf(request, (await request.readBody()).toString()))}`,
    },
    body: '',
  }),
  async (request) => ({
    kind: 'text',
    status: 401,
    body: quoteOf(request, (await request.readBody()).toString()),
  }),
  async (request) => ({
    kind: 'json',
    body: {
      Status: false,
      StatusCode: 2003,
      Message: quoteOf(request, (await request.readBody()).toString()),
    },
  }),
];

function quoteOf({ url, rawHeaders }: ArrivingRequest, body: string): string {
  const headers = rawHeaders.join(' ');
  return [headers, encodeURIComponent(headers), Buffer.from(headers).toString('base64'), url, body]
    .join(' ')
    .slice(0, 60_000);
}

function quotingHeaders({ rawHeaders }: ArrivingRequest, body: string): Record<string, string> {
  return {
    'x-received': encodeURIComponent(`${rawHeaders.join(' ')} ${body}`).slice(0, 4_000),
    'set-cookie': `last=${Buffer.from(body).toString('base64url').slice(0, 2_000)}`,
  };
}
