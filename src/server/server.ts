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

interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** IANA name of the account's time zone. */
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
  /** How long a request may take to arrive completely. */
  readonly requestMs: number;
  /** Maximum time that a caller waits for the ledger. */
  readonly answerMs: number;
  /** How long `close` waits for requests in progress. */
  readonly closeGraceMs: number;
  /** How long a refused connection stays open for the caller to read the response. */
  readonly partingMs: number;
}

export interface Server {
  /** @throws Error of node:net when it can't listen, for example with the code EADDRINUSE */
  listen(): Promise<{ readonly url: string }>;
  /** Accepts no more requests, waits for those in progress, then closes all connections. Idempotent. */
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
    // How late a slow request is detected, on top of the time it may take.
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
    // Otherwise the connection would be kept for another request until it is closed by force.
    if (closing !== undefined) reply.header('connection', 'close');
  });
  disableBodyParsing(app);
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
      // Not the framework's own listen: for `localhost` that opens several servers and reports one.
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

/** No caching by proxies, no guessing of content types. */
function setCommonHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
}

/** A route that reads a body gets the raw stream; elsewhere bodies are ignored. */
function disableBodyParsing(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

function writeUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
