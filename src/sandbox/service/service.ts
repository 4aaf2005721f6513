import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { nameReason } from '../common/errors.js';
import type { Outbox } from '../outbox/outbox.js';
import { type CallCounts, type CallsOptions, createCalls, createEmails } from './calls.js';
import { type Account, basePath, findAccountObjection, routeRequest } from './route.js';
import { sendAnswer } from './send-answer.js';

export type { ServiceEvent } from './service-event.js';

export interface SandboxService {
  /** To be used as `service.baseUrl`. */
  readonly baseUrl: string;
  readonly counts: CallCounts;
  /** Cuts all connections and waits for the e-mails that are being written. Idempotent. */
  close(): Promise<void>;
}

/** What the files hold, in PEM. */
export interface TlsFiles {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface ServiceOptions extends Omit<CallsOptions, 'emails'> {
  /** A name or an address of this machine: where it listens, and how it is called; 127.0.0.1 if not given. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** With it the service is reached by https, without it by http. */
  readonly tls?: TlsFiles | undefined;
  readonly account: Account;
  readonly outbox: Outbox;
}

/** Longer than clients keep idle connections, so that none is closed on a client that is about to use it. */
const keepAliveMs = 75_000;

/**
 * Starts the HTTP half of the sandbox: the operations of the mapping service. (Spec 4.)
 *
 * @throws Error of node:net when it can't listen there, for example with the code EADDRINUSE
 */
export async function startService(options: ServiceOptions): Promise<SandboxService> {
  const { host = '127.0.0.1', port, tls, account, errorShape, outbox, onEvent } = options;
  const emails = createEmails(outbox, onEvent);
  const calls = createCalls({ ...options, emails });

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
        const objection = findAccountObjection(request.headers, account);
        return objection === undefined ? calls.serve(route, request, response) : turnAway(403, objection);
      }
    }
  }

  /** The sandbox itself is at fault, for example its disk is full. */
  function fail(response: ServerResponse, error: unknown): void {
    const reason = nameReason(error);
    sendAnswer(
      response,
      { kind: 'error', httpStatus: 500, message: `The sandbox failed: ${reason}.` },
      errorShape,
    );
    onEvent({ kind: 'failed', reason });
  }

  const open = new Set<Promise<void>>();
  const listener: RequestListener = (request, response) => {
    // By the same clock as everything else: who asks for changes goes by it.
    response.setHeader('Date', new Date(options.clock()).toUTCString());
    const serving = serve(request, response)
      .catch((error: unknown) => fail(response, error))
      .finally(() => open.delete(serving));
    open.add(serving);
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
      // A call that was cut may still have an e-mail to write.
      await Promise.all(open);
      await emails.written();
    },
  };
}
