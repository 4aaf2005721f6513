import type { FastifyInstance } from 'fastify';
import { HttpError } from './http-error.js';

/** Turns away what is sent to a path by any other method. */
export function allowOnly(app: FastifyInstance, method: 'GET' | 'POST', url: string): void {
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const allow = allowed.join(', ');
  app.route({
    url,
    method: app.supportedMethods.filter((other) => !allowed.includes(other)),
    handler: async () => {
      throw new HttpError(405, `this path takes ${allow} alone`, { allow });
    },
  });
}
