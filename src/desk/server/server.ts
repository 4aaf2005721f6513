import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { isLoopback } from '../../base/addresses.js';
import { describeError } from '../../base/safe-error.js';
import type { FindCaller } from '../access/caller.js';
import { isSame } from '../access/sessions.js';
import { readBearerToken } from './check-caller.js';
import type { Health } from './health.js';
import { addHookRoute, type HookSettings } from './hook.js';
import {
  allowOnly,
  HttpError,
  refuseBrokenRequest,
  type ServerLog,
  sendError,
  setErrorAnswers,
  stopping,
  toHttpError,
} from './http-error.js';
import type { Metrics } from './metrics.js';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The names under which callers may reach it, besides its addresses and loopback names. */
  readonly hosts?: readonly string[];
  readonly findCaller: FindCaller;
  /** IANA name of the account's time zone. */
  readonly timezone: string;
  /** Without it, there is none. */
  readonly hook?: HookSettings;
  /** Adds the pages for people. */
  readonly desk?: (app: FastifyInstance, limits: ServerLimits) => void;
  readonly health: Health;
  readonly metrics: Metrics;
  /** If there is one, the metrics require it. */
  readonly metricsToken?: string;
  /** Shortens paths of this machine in responses. */
  readonly shortenPaths?: (text: string) => string;
  readonly clock: () => number;
  readonly log: ServerLog;
  readonly limits?: Partial<ServerLimits>;
}

/** Times are in milliseconds. */
const defaultLimits = {
  /** Connections at once: far fewer than the descriptors of a process, which a review needs too. */
  connections: 64,
  /** How many requests of a connection may wait for the one before them. Browsers and proxies send none ahead. */
  waitingRequests: 16,
  /** How long a connection is kept for another request. */
  keepAliveMs: 5_000,
  /** How long a request may take to arrive completely. */
  requestMs: 10_000,
  /** Maximum time that a caller waits for the ledger. */
  answerMs: 2_500,
  /** How long `close` waits for requests in progress. */
  closeGraceMs: 2_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;
export type Server = ReturnType<typeof createServer>;

/**
 * The HTTP server of `serve` and `work`: end-of-day hook, health, metrics and the desk. It logs neither headers nor bodies
 * nor queries.
 *
 * @throws RangeError for a hook's secret that can't be used
 */
export function createServer(options: ServerOptions) {
  const { host, port, hook, desk, log, shortenPaths } = options;
  const limits = { ...defaultLimits, ...options.limits };
  let closing: Promise<void> | undefined;
  let cutConnections: ReturnType<typeof serveConnections> | undefined;

  const app = Fastify({
    logger: false,
    // Names of providers are long once they are escaped.
    routerOptions: { maxParamLength: 1_000 },
    serverFactory(handler) {
      const server = openHttpServer(limits);
      cutConnections = serveConnections(server, handler, limits);
      return server;
    },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket as Socket),
    frameworkErrors: (error, _request, reply) => sendError(reply, toHttpError(error)),
  });
  setErrorAnswers(app, log);
  app.addHook('onSend', async (_request, reply, payload) => {
    // No caching by proxies unless a route allows it, no guessing of content types.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    reply.header('x-content-type-options', 'nosniff');
    // Otherwise the connection would be kept for another request until it is closed by force.
    if (closing !== undefined) reply.header('connection', 'close');
    // The framework would close it with the rest of a large body unread: that resets it, and the caller loses the answer.
    else if (reply.hasHeader('connection')) reply.removeHeader('connection');
    return typeof payload === 'string' && shortenPaths ? shortenPaths(payload) : payload;
  });
  // Whoever reads bodies adds a parser to its own routes; elsewhere bodies are ignored.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async () => {
    if (closing !== undefined) throw stopping();
  });
  refuseOtherHosts(app, [host, ...(options.hosts ?? [])]);

  addProbeRoutes(app, options);
  if (desk) app.register((scope) => desk(scope, limits));
  if (hook) addHookRoute(app, { ...options, ...limits, ...hook });

  async function stop(): Promise<void> {
    const cut = setTimeout(() => cutConnections?.(), limits.closeGraceMs);
    try {
      // The framework closes only servers that it made itself.
      await Promise.all([new Promise((resolve) => app.server.close(resolve)), app.close()]);
    } finally {
      clearTimeout(cut);
    }
  }

  return {
    /** @throws Error of node:net when it can't listen, for example with the code EADDRINUSE */
    async listen(): Promise<{ readonly url: string }> {
      await app.ready();
      // Not the framework's own listen: for `localhost` that opens several servers and reports one.
      app.server.listen(port, host);
      await once(app.server, 'listening');
      // For example no descriptor for another connection: that must not end the process, which has days to review.
      app.server.on('error', (error) => log.error({ error: describeError(error) }, 'connection failed'));
      const { port: opened } = app.server.address() as AddressInfo;
      return { url: `http://${host.includes(':') ? `[${host}]` : host}:${opened}` };
    },
    /** Accepts no more requests, waits for those in progress, then closes all connections. Idempotent. */
    close(): Promise<void> {
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

/** Adds the routes that machines call every few seconds: liveness, readiness, metrics. */
function addProbeRoutes(app: FastifyInstance, { health, metrics, metricsToken }: ServerOptions): void {
  // Responds as long as the event loop turns: what a restart can't fix is not checked here.
  app.get('/healthz', async () => ({ alive: true }));
  app.get('/readyz', async (_request, reply) => {
    const { ready, parts } = await health.look();
    // Anybody may ask: the problem itself, which may name an address, is for the log and the desk.
    const states = Object.entries(parts).map(([part, state]) => [part, state === 'ok' ? 'ok' : 'down']);
    return reply.code(ready ? 200 : 503).send({ ready, parts: Object.fromEntries(states) });
  });
  app.get('/metrics', async ({ headers }, reply) => {
    if (metricsToken !== undefined && !isSame(readBearerToken(headers) ?? '', metricsToken))
      throw new HttpError(401, metricsNeedToken, { 'www-authenticate': 'Bearer' });
    const { contentType, text } = await metrics.scrape();
    return reply.header('content-type', contentType).send(text);
  });
  for (const path of ['/metrics', ...probePaths]) allowOnly(app, 'GET, HEAD', path);
}

const metricsNeedToken = 'the metrics need the header authorization: Bearer TOKEN (server.metricsToken)';

/** They answer whatever host a request names: probes use addresses of their own. */
const probePaths: readonly string[] = ['/healthz', '/readyz'];

/** A path of this server. Browsers take two slashes, also backward ones, for another host. */
const ownTarget = /^\/(?![/\\])/;

/** Against pages of other sites whose name resolves to this machine. Probes name an address of their own choice. */
function refuseOtherHosts(app: FastifyInstance, names: readonly string[]): void {
  const isAllowed = createHostCheck(names);
  app.addHook('onRequest', async ({ headers, raw, routeOptions }) => {
    // A target that names a host goes before the header, and pages would link to it.
    if (!ownTarget.test(raw.url ?? ''))
      throw new HttpError(400, 'the target of the request must be a path that begins with one slash');
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

/** A name or an address, IPv6 in brackets, with or without a port. */
const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/**
 * Whether a request may name this host. A page of another site can let its own name resolve to this machine and then read what a
 * browser here gets (DNS rebinding), but it can't change the name in the header.
 *
 * @param names the configured ones; an address that is connected to and loopback names are always allowed
 */
export function createHostCheck(names: readonly string[]) {
  const allowed = new Set(names.map(normalise));
  return (header: string | undefined, localAddress: string | undefined): boolean => {
    const given = hostHeader.exec(header ?? '')?.[1];
    if (given === undefined) return false;
    const host = normalise(given);
    if (isLoopback(host) || allowed.has(host)) return true;
    return localAddress !== undefined && host === normalise(localAddress);
  };
}

/** As a parsed URL writes it: lower case, one form of each address. */
function normalise(host: string): string {
  const address = host.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  const url = `http://${isIPv6(address) ? `[${address}]` : address}`;
  return (URL.canParse(url) ? new URL(url).hostname : address.toLowerCase()).replace(/\.$/, '');
}

/**
 * Passes the requests of a server to their handler, and limits the work that its callers can cause.
 *
 * Connections stay below a limit, so that callers can't take the descriptors that a review needs. Beyond it, the connection
 * that has waited longest for its caller gives way to the new one: callers that send or read nothing can't shut out probes.
 *
 * A limit on connections is none on work, because a caller may send hundreds of requests and read no response. So the next
 * request of a connection starts when the response before it has left this process, and few may wait.
 *
 * @returns a way to cut them all, including those that have not sent a request yet
 */
function serveConnections(
  server: HttpServer,
  handle: RequestListener,
  { connections: most, waitingRequests }: ServerLimits,
): () => void {
  // Connections in the order in which they were last used, each with its requests: the first is in progress, the others wait.
  const open = new Map<Socket, ServerResponse[]>();

  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      const idle = findIdle(open);
      cut(idle ?? socket);
      if (!idle) return;
    }
    open.set(socket, []);
    socket.once('close', () => open.delete(socket));
  });

  server.on('request', ({ socket }, response) => {
    const responses = open.get(socket);
    // Requests that were already read when their connection was cut.
    if (responses === undefined) return;
    if (responses.length > waitingRequests) {
      cut(socket);
      return;
    }
    responses.push(response);
    if (responses.length === 1) start(socket, responses, response);
  });

  function start(socket: Socket, responses: ServerResponse[], response: ServerResponse): void {
    // Also emitted when the connection ends.
    response.once('close', () => {
      responses.shift();
      if (!open.delete(socket)) return;
      open.set(socket, responses);
      const [next] = responses;
      if (next && !socket.destroyed) start(socket, responses, next);
    });
    handle(response.req, response);
  }

  function cut(socket: Socket): void {
    open.delete(socket);
    socket.destroy();
  }

  return () => {
    for (const socket of open.keys()) socket.destroy();
  };
}

/** The first that waits for its caller: to send a request, the rest of one, or to read the response. */
function findIdle(open: ReadonlyMap<Socket, readonly ServerResponse[]>): Socket | undefined {
  const find = (isIdle: (current: ServerResponse | undefined) => boolean | undefined) =>
    [...open].find(([, [current]]) => isIdle(current))?.[0];
  return (
    find((current) => current === undefined) ??
    find((current) => current?.req.complete === false) ??
    find((current) => current?.writableEnded || current?.writableNeedDrain)
  );
}
