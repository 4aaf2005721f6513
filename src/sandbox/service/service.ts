import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { nameReason } from '../common/errors.js';
import { type CallCounts, type CallsOptions, createCalls } from './calls.js';
import { type Account, basePath, findAccountProblem, routeRequest } from './route.js';
import { sendAnswer } from './send-answer.js';

export type { ServiceEvent } from './service-event.js';

export interface SandboxService {
  /** For the setting `service.baseUrl`. */
  readonly baseUrl: string;
  readonly counts: CallCounts;
  /** Cuts all connections and waits for the e-mails that are being written. Idempotent. */
  close(): Promise<void>;
}

/** In PEM. */
export interface TlsFiles {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

interface ServiceOptions extends CallsOptions {
  /** The name or address of this machine to listen on and to use in the base URL; 127.0.0.1 by default. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Switches from http to https. */
  readonly tls?: TlsFiles | undefined;
  readonly account: Account;
}

/** Longer than clients keep idle connections, so that none is closed just as a client reuses it. */
const keepAliveMs = 75_000;

/**
 * Starts the HTTP half of the sandbox: the operations of the mapping service. (Spec 4.)
 *
 * @throws Error of node:net when it can't listen, for example with the code EADDRINUSE
 */
export async function startService(options: ServiceOptions): Promise<SandboxService> {
  const { host = '127.0.0.1', port, tls, account, errorShape, onEvent } = options;
  const calls = createCalls(options);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const turnAway = (httpStatus: number, message: string, headers = {}) => {
      sendAnswer(response, { kind: 'error', httpStatus, message, headers }, errorShape);
      onEvent({ kind: 'turned-away', httpStatus });
    };
    const route = routeRequest(request.method ?? '', request.url ?? '');
    switch (route.kind) {
      case 'unknown-path':
        return turnAway(404, 'There is no such operation: paths are exact and case-sensitive.');
      case 'wrong-method':
        return turnAway(405, `This operation is called with ${route.allowed}.`, { Allow: route.allowed });
      case 'operation': {
        const problem = findAccountProblem(request.headers, account);
        return problem === undefined ? calls.serve(route, request, response) : turnAway(403, problem);
      }
    }
  }

  /** For faults of the sandbox itself, such as a full disk. */
  function fail(response: ServerResponse, error: unknown): void {
    const reason = nameReason(error);
    sendAnswer(
      response,
      { kind: 'error', httpStatus: 500, message: `The sandbox failed: ${reason}.` },
      errorShape,
    );
    onEvent({ kind: 'failed', reason });
  }

  const openCalls = new Set<Promise<void>>();
  const listener: RequestListener = (request, response) => {
    // Uses the sandbox's clock, because clients that sync changes rely on this header.
    response.setHeader('Date', new Date(options.clock()).toUTCString());
    const serving = serve(request, response)
      .catch((error: unknown) => fail(response, error))
      .finally(() => openCalls.delete(serving));
    openCalls.add(serving);
  };
  const server = tls
    ? createTlsServer({ cert: tls.certificate, key: tls.key }, listener)
    : createServer(listener);
  server.keepAliveTimeout = keepAliveMs;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;

  return {
    baseUrl: `${tls ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${address.port}${basePath}`,
    counts: calls.counts,
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await stopped;
      // A call that was cut off may still have an e-mail to write.
      await Promise.all(openCalls);
      await calls.emailsWritten();
    },
  };
}
