import type { FastifyInstance } from 'fastify';
import { createTokenCheck, readBearerToken } from './bearer-token.js';
import type { Health } from './health.js';
import { allowOnly, HttpError } from './http-error.js';
import type { Metrics } from './metrics.js';

/** They answer whatever host a request names: probes use addresses of their own. */
export const probePaths: readonly string[] = ['/healthz', '/readyz'];

interface ProbeParts {
  readonly health: Health;
  readonly metrics: Pick<Metrics, 'scrape'>;
  /** If there is one, the metrics require it. */
  readonly metricsToken?: string;
}

/** Adds the routes that machines call every few seconds: liveness, readiness, metrics. */
export function addProbeRoutes(app: FastifyInstance, { health, metrics, metricsToken }: ProbeParts): void {
  // Responds as long as the event loop turns: what a restart can't fix is not checked here.
  app.get('/healthz', async () => ({ alive: true }));
  allowOnly(app, ['GET', 'HEAD'], '/healthz');

  app.get('/readyz', async (_request, reply) => {
    const readiness = await health.look();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  allowOnly(app, ['GET', 'HEAD'], '/readyz');

  const isMetricsToken = metricsToken === undefined ? () => true : createTokenCheck(metricsToken);
  app.get('/metrics', async ({ headers }, reply) => {
    if (!isMetricsToken(readBearerToken(headers) ?? '')) {
      throw new HttpError(
        401,
        'the metrics need the header authorization: Bearer TOKEN (server.metricsToken)',
        {
          'www-authenticate': 'Bearer',
        },
      );
    }
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  allowOnly(app, ['GET', 'HEAD'], '/metrics');
}
