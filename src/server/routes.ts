import type { FastifyInstance } from 'fastify';
import type { Health } from './health.js';
import { allowOnly } from './http-error.js';
import type { Metrics } from './metrics.js';

/** They answer whatever host a request names: probes use addresses of their own. */
export const probePaths: readonly string[] = ['/healthz', '/readyz'];

/** Adds the routes that machines call every few seconds: liveness, readiness, metrics. */
export function addProbeRoutes(
  app: FastifyInstance,
  { health, metrics }: { readonly health: Health; readonly metrics: Pick<Metrics, 'scrape'> },
): void {
  // Responds as long as the event loop turns: what a restart can't fix is not checked here.
  app.get('/healthz', async () => ({ alive: true }));
  allowOnly(app, ['GET', 'HEAD'], '/healthz');

  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.look();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  allowOnly(app, ['GET', 'HEAD'], '/readyz');

  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  allowOnly(app, ['GET', 'HEAD'], '/metrics');
}
