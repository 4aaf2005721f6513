import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { describeError } from '../text/safe-error.js';
import { createHostCheck } from './allowed-hosts.js';
import { type ConnectionLimits, serveConnections } from './connections.js';
import type { Health } from './health.js';
import { createHook, type HookSettings } from './hook.js';
import { addHookRoute } from './hook-route.js';
import { HttpError, refuseBrokenRequest, sendError, setErrorAnswers, toHttpError } from './http-error.js';
import type { Metrics } from './metrics.js';
import type { ServerLog } from './ports.js';
import { addProbeRoutes, probePaths } from './routes.js';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The names under which callers may reach it, besides its addresses and loopback names. */
  readonly hosts?: readonly string[];
  /** IANA name of the account's time zone. */
  readonly timezone: string;
  /** Without it, there is none. */
  readonly hook?: HookSettings;
  /** Adds the pages for people. */
  readonly desk?: (app: FastifyInstance, limits: Pick<ServerLimits, 'answerMs'>) => void;
  readonly ledger: ReadOnlyLedger;
  readonly health: Health;
  readonly metrics: Pick<Metrics, 'scrape' | 'countHookRequest'>;
  /** If there is one, the metrics require it. */
  readonly metricsToken?: string;
  /** Shortens paths of this machine in responses. */
  readonly shortenPaths?: (text: string) => string;
  readonly clock: () => number;
  readonly log: ServerLog;
  readonly limits?: Partial<ServerLimits>;
}

/** Times are in milliseconds. */
export interface ServerLimits extends ConnectionLimits {
  /** How long a connection is kept for another request. */
  readonly keepAliveMs: number;
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
  connections: 64,
  waitingRequests: 16,
  keepAliveMs: 5_000,
  requestMs: 10_000,
  answerMs: 2_500,
  closeGraceMs: 2_000,
  partingMs: 1_000,
};

/**
 * The HTTP server of `serve` and `work`: end-of-day hook, health, metrics and the desk. It logs neither headers nor bodies
 * nor queries.
 *
 * @throws RangeError for a hook's secret that can't be used
 */
export function createServer(options: ServerOptions): Server {
  const { host, port, timezone, hook, desk, ledger, clock, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let closing: Promise<void> | undefined;
  let connections: ReturnType<typeof serveConnections> | undefined;

  const app = Fastify({
    logger: false,
    // Names of providers are long once they are escaped.
    routerOptions: { maxParamLength: 1_000 },
    serverFactory(handler) {
      const server = openHttpServer(limits);
      connections = serveConnections(server, handler, limits);
      return server;
    },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket as Socket),
    frameworkErrors: (error, _request, reply) => sendError(reply, toHttpError(error)),
  });
  setErrorAnswers(app, log);
  const { shortenPaths } = options;
  if (shortenPaths) {
    app.addHook('onSend', async (_request, _reply, payload) =>
      typeof payload === 'string' ? shortenPaths(payload) : payload,
    );
  }
  setCommonHeaders(app);
  app.addHook('onSend', async (_request, reply) => {
    // Otherwise the connection would be kept for another request until it is closed by force.
    if (closing !== undefined) reply.header('connection', 'close');
  });
  disableBodyParsing(app);
  app.addHook('onRequest', async () => {
    if (closing !== undefined) throw new HttpError(503, 'this process is stopping', { 'retry-after': '5' });
  });
  refuseOtherHosts(app, [host, ...(options.hosts ?? [])]);

  addProbeRoutes(app, options);
  if (desk) {
    const { answerMs } = limits;
    app.register((scope, _, done) => {
      desk(scope, { answerMs });
      done();
    });
  }
  if (hook) {
    const answer = createHook({ ...hook, ledger, timezone, clock, answerMs: limits.answerMs });
    addHookRoute(app, { answer, log, partingMs: limits.partingMs, count: options.metrics.countHookRequest });
  }

  async function stop(): Promise<void> {
    const cut = setTimeout(() => connections?.closeAll(), limits.closeGraceMs);
    try {
      // The framework closes only servers that it made itself.
      await Promise.all([new Promise((resolve) => app.server.close(resolve)), app.close()]);
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
      // For example no descriptor for another connection: that must not end the process, which has days to review.
      app.server.on('error', (error) => log.error({ error: describeError(error) }, 'connection failed'));
      return {
        url: writeUrl(host, (app.server.address() as AddressInfo).port),
      };
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

function openHttpServer(limits: ServerLimits): HttpServer {
  const server = createHttpServer({
    requestTimeout: limits.requestMs,
    headersTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    // How late a slow request is detected, on top of the time it may take.
    connectionsCheckingInterval: Math.min(1_000, limits.requestMs),
  });
  // For callers that don't read their responses; slow requests end earlier, with a response.
  server.setTimeout(3 * limits.requestMs);
  return server;
}

/** Against pages of other sites whose name resolves to this machine. Probes name an address of their own choice. */
function refuseOtherHosts(app: FastifyInstance, names: readonly string[]): void {
  const isAllowed = createHostCheck(names);
  app.addHook('onRequest', async ({ headers, raw, routeOptions }) => {
    // A proxy in front may have gone by the one, and this server by the other.
    if (countHosts(raw) > 1) throw new HttpError(400, 'the request has more than one Host header');
    if (probePaths.includes(routeOptions.url ?? '') || isAllowed(headers.host, raw.socket.localAddress))
      return;
    throw new HttpError(421, 'this host name is not allowed here: server.hosts lists those that are');
  });
}

/** Node keeps only the first one in `headers`. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
}

/** No caching by proxies unless a route allows it, no guessing of content types. */
function setCommonHeaders(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    reply.header('x-content-type-options', 'nosniff');
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
