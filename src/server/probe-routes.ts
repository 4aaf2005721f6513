import type { FastifyInstance } from 'fastify';
import type { Health } from './health.js';
import type { Metrics } from './metrics.js';
import { allowOnly } from './only-method.js';

/** Adds what machines ask every few seconds: is it alive, can it work, how does it do. */
export function addProbeRoutes(
  app: FastifyInstance,
  { health, metrics }: { readonly health: Health; readonly metrics: Pick<Metrics, 'scrape'> },
): void {
  // Answers as long as the event loop turns: what a restart of this process can't mend plays no part.
  app.get('/healthz', async () => ({ alive: true }));
  allowOnly(app, 'GET', '/healthz');

  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.look();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  allowOnly(app, 'GET', '/readyz');

  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  allowOnly(app, 'GET', '/metrics');
}
