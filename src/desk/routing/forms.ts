import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from '../../server/http-error.js';

/** Enough for a selection of many cases. */
const largestForm = 64 * 1024;

/** Forms are read here only; other routes of the server get no parsed body. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: largestForm },
    (_request, body, done) => done(null, collect(new URLSearchParams(String(body)))),
  );
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A field given several times becomes a list. */
function collect(given: URLSearchParams): Fields {
  const names = [...new Set(given.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = given.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
}

export function readBody({ body }: FastifyRequest): Fields {
  if (typeof body !== 'object' || body === null)
    throw new HttpError(415, 'expected the fields of a form: application/x-www-form-urlencoded');
  return body as Fields;
}

/** The first value of a field. */
export function readField(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = [body[name]].flat()[0];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a browser says that another site sent this. */
export function isFromOtherSite({ headers: { 'sec-fetch-site': site } }: FastifyRequest): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
