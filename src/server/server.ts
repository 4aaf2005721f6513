import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Health } from './health.js';
import { createHook, type HookSettings } from './hook.js';
import { addHookRoute } from './hook-route.js';
import { HttpError, refuseBrokenRequest, sendError, setErrorAnswers, toHttpError } from './http-error.js';
import type { Metrics } from './metrics.js';
import type { ServerLog, Statuses } from './ports.js';
import { addProbeRoutes, addStatusRoutes } from './routes.js';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** IANA name: the zone in which days are counted. */
  readonly timezone: string;
  /** Without secret and token there is no hook. */
  readonly hook?: HookSettings;
  readonly statuses: Statuses;
  readonly health: Health;
  readonly metrics: Pick<Metrics, 'scrape' | 'countHookRequest'>;
  readonly clock: () => number;
  readonly log: ServerLog;
  readonly limits?: Partial<ServerLimits>;
}

/** In milliseconds. */
export interface ServerLimits {
  /** In which a request has to be here whole. */
  readonly requestMs: number;
  /** For so long a caller waits for the ledger, at most. */
  readonly answerMs: number;
  /** For so long `close` lets requests in hand go on. */
  readonly closeGraceMs: number;
  /** For so long a connection that is to end stays open for the caller to read why. */
  readonly partingMs: number;
}

export interface Server {
  /** @throws Error of node:net when it can't listen, for example with the code EADDRINUSE */
  listen(): Promise<{ readonly url: string }>;
  /** Takes no more requests, lets those in hand go on for the grace, then cuts all connections. Idempotent. */
  close(): Promise<void>;
}

const defaultLimits: ServerLimits = {
  requestMs: 10_000,
  answerMs: 2_500,
  closeGraceMs: 2_000,
  partingMs: 1_000,
};

/**
 * The HTTP server of `serve` and `work`: end-of-day hook, status, health, metrics. It logs neither headers nor bodies
 * nor queries.
 *
 * @throws RangeError for a hook's secret or token that can't be used
 */
export function createServer(options: ServerOptions): Server {
  const { host, port, timezone, hook, statuses, clock, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let closing: Promise<void> | undefined;

  const app = Fastify({
    logger: false,
    requestTimeout: limits.requestMs,
    // How late a slow request is found out, besides the time it may take.
    http: {
      headersTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(1_000, limits.requestMs),
    },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket as Socket),
    frameworkErrors: (error, _request, reply) => sendError(reply, toHttpError(error)),
  });
  setErrorAnswers(app, log);
  setCommonHeaders(app);
  app.addHook('onSend', async (_request, reply) => {
    // Else the connection would be kept for a next request until it is cut.
    if (closing !== undefined) reply.header('connection', 'close');
  });
  leaveBodiesAlone(app);
  app.addHook('onRequest', async () => {
    if (closing !== undefined) throw new HttpError(503, 'this process is stopping', { 'retry-after': '5' });
  });

  addProbeRoutes(app, options);
  addStatusRoutes(app, { statuses, timezone, clock, log, answerMs: limits.answerMs });
  if (hook && hook.secrets.length + hook.tokens.length > 0) {
    const answer = createHook({ ...hook, statuses, timezone, clock, answerMs: limits.answerMs });
    addHookRoute(app, { answer, log, partingMs: limits.partingMs, count: options.metrics.countHookRequest });
  }

  async function stop(): Promise<void> {
    const cut = setTimeout(() => app.server.closeAllConnections(), limits.closeGraceMs);
    try {
      await app.close();
    } finally {
      clearTimeout(cut);
    }
  }

  return {
    async listen() {
      await app.ready();
      // Not the framework's own: of `localhost` that makes several servers, of which it tells one.
      app.server.listen(port, host);
      await once(app.server, 'listening');
      return { url: writeUrl(host, (app.server.address() as AddressInfo).port) };
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

/** Nothing here is to be kept by anybody in between, or to be taken for what it isn't. */
function setCommonHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
}

/** What is sent to a path that reads it itself comes as it is; elsewhere nobody reads it. */
function leaveBodiesAlone(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

function writeUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
