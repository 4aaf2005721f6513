import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { account } from '../common/account.js';
import { nameReason, Refusal } from '../common/errors.js';
import type { CallFault, Operation } from '../common/faults.js';
import type { BookedHotel } from '../outbox/outbox.js';
import type { SandboxParts } from '../parts/parts.js';
import { createOperations, noOutcome, type PerformedCall } from './operations.js';

/** The version segment, which starts every path. (Spec 9.) */
const basePath = '/api/3.0';
const routes = new Map<string, { readonly operation: Operation; readonly method: 'GET' | 'POST' }>([
  [`${basePath}/mappings`, { operation: 'mappings', method: 'GET' }],
  [`${basePath}/hotels/ReviewMappingsOfBookedHotels`, { operation: 'by-body', method: 'POST' }],
  [`${basePath}/hotels/ReviewMappingsOfBookedHotelsByFile`, { operation: 'by-file', method: 'GET' }],
  [`${basePath}/content/GetMasterHotelBrands`, { operation: 'brands', method: 'GET' }],
  [`${basePath}/mappings/ExportMappingsFile`, { operation: 'export', method: 'GET' }],
]);

/** What is answered: always the envelope of spec 2.1. */
interface Answer {
  readonly httpStatus: number;
  readonly statusCode: number;
  readonly message: string;
  readonly content?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Longer than clients keep idle connections, so that none is closed just as a client reuses it. */
const keepAliveMs = 75_000;

/**
 * Starts the HTTP half of the sandbox: the operations of the mapping service. (Spec 4.)
 *
 * @throws Error of node:net when it can't listen, for example with the code EADDRINUSE
 */
export async function startService(parts: SandboxParts) {
  const { host, port, tls, faults, outbox, clock, tell, pending } = parts;
  const operations = createOperations(parts);
  /** Authenticated requests to an operation; bookings accepted by body, and those of them whose mapping is incorrect. */
  const counts = { calls: 0, reviewed: 0, incorrect: 0 };
  /** Those about bodies, by their paths. */
  const emails: string[] = [];

  /** Matches paths exactly: case-sensitive and without decoding. */
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const turnAway = (httpStatus: number, message: string, headers = {}) => {
      send(response, failure(httpStatus, message, headers));
      tell(`request rejected: ${httpStatus}`);
    };
    const [path = '', ...query] = (request.url ?? '').split('?');
    const route = routes.get(path);
    if (!route) return turnAway(404, 'There is no such operation: paths are exact and case-sensitive.');
    const { operation, method } = route;
    if (request.method !== method)
      return turnAway(405, `This operation is called with ${method}.`, { Allow: method });
    const problem = findAccountProblem(request);
    if (problem !== undefined) return turnAway(403, problem);
    return serveCall(operation, new URLSearchParams(query.join('?')), request, response);
  }

  async function serveCall(
    operation: Operation,
    parameters: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    // Numbered when the head arrives, so that overtaking calls keep their numbers.
    counts.calls += 1;
    const number = counts.calls;
    const fault = faults.nextCall(operation);
    const about = `the request body of ${new Date(clock()).toISOString().slice(11, 19)} UTC`;
    let performed: PerformedCall | undefined;
    const answer = await meetFault(request, fault, async () => {
      performed = await operations[operation](request, parameters);
      counts.reviewed += performed?.reviewed ?? 0;
      counts.incorrect += performed?.incorrect?.length ?? 0;
      return performed && { httpStatus: 200, statusCode: 2000, ...performed };
    });
    const isSent = answer !== undefined && send(response, answer);
    performed?.end?.();
    // The e-mail doesn't delay the answer, and is written even if nobody waited for that.
    writeEmail(number, about, performed?.incorrect ?? []);
    const call = `call ${number} ${operation}${fault ? ` (${fault.kind})` : ''}`;
    const answered = isSent ? `${answer.httpStatus} ${answer.statusCode}` : 'no answer';
    tell(`${call}: ${answered}, ${performed?.outcome ?? noOutcome[operation]}`);
  }

  function writeEmail(number: number, about: string, incorrect: readonly BookedHotel[]): void {
    if (incorrect.length === 0) return;
    const what = `e-mail about ${incorrect.length} of call ${number}`;
    const written = outbox
      .notify({ about, incorrect })
      .then((email) => {
        emails.push(email);
        tell(`${what}: ${email}`);
      })
      .catch((error) => tell(`no ${what}: ${nameReason(error)}`))
      .finally(() => pending.delete(written));
    pending.add(written);
  }

  /** For faults of the sandbox itself, such as a full disk. */
  function fail(response: ServerResponse, error: unknown): void {
    const reason = nameReason(error);
    send(response, failure(500, `The sandbox failed: ${reason}.`));
    tell(`the sandbox failed: ${reason}`);
  }

  const openCalls = new Set<Promise<void>>();
  const listener: RequestListener = (request, response) => {
    // Uses the sandbox's clock, because clients that sync changes rely on this header.
    response.setHeader('Date', new Date(clock()).toUTCString());
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
    /** For the setting `service.baseUrl`. */
    baseUrl: `${tls ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${address.port}${basePath}`,
    ...{ counts, emails },
    /** Cuts all connections and waits for the calls: one that was cut off may still have an e-mail to write. Idempotent. */
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await stopped;
      await Promise.all(openCalls);
    },
  };
}

/** Why the headers are not those of the account; undefined when they are. Never quotes what was sent. */
function findAccountProblem({ headers: { apikey, accountid } }: IncomingMessage): string | undefined {
  if (typeof apikey !== 'string' || apikey === '') return 'The header apikey is missing.';
  if (typeof accountid !== 'string' || accountid === '') return 'The header accountId is missing.';
  const isRight = apikey === account.apiKey && accountid === account.accountId;
  return isRight ? undefined : 'The headers apikey and accountId do not name an account.';
}

/** Answers a call, properly or with a fault. Resolves to undefined when the client left before its body was complete. */
async function meetFault(
  request: IncomingMessage,
  fault: CallFault | undefined,
  perform: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  switch (fault?.kind) {
    case 'status': {
      const { status, retryAfterSeconds: seconds } = fault;
      const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
      const answer = failure(status, `A fault of the sandbox: HTTP status ${status}.`, headers);
      return (await dropBody(request)) ? answer : undefined;
    }
    case 'refuse': {
      const { statusCode } = fault;
      const message = `A fault of the sandbox: refused with ${statusCode}.`;
      return (await dropBody(request)) ? { httpStatus: 200, statusCode, message } : undefined;
    }
    default: {
      const answer = await perform().catch((error: unknown) => {
        if (error instanceof Refusal) return error;
        throw error;
      });
      if (fault) await waitWhileConnected(request, fault.seconds);
      return answer;
    }
  }
}

/** Reads and discards a request's body; false when the client left before it was complete. */
function dropBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    request.resume();
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
  });
}

async function waitWhileConnected({ socket }: IncomingMessage, seconds: number): Promise<void> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  socket.once('close', onClose);
  if (!socket.destroyed) await delay(seconds * 1000, undefined, { signal: gone.signal }).catch(() => {});
  socket.off('close', onClose);
}

/** The StatusCode for an HTTP status. (Assumed: the specification gives none.) */
function failure(
  httpStatus: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const statusCode =
    httpStatus === 401 || httpStatus === 403
      ? 2003
      : httpStatus === 429
        ? 2030
        : httpStatus >= 500
          ? 2001
          : 2002;
  return { httpStatus, statusCode, message, headers };
}

/** Returns false when the client is gone. */
function send(
  response: ServerResponse,
  { httpStatus, statusCode, message, content, headers }: Answer,
): boolean {
  if (response.req.socket.destroyed) return false;
  const envelope = { Status: statusCode === 2000, Message: message, StatusCode: statusCode };
  const body = Buffer.from(JSON.stringify({ ...content, ...envelope }));
  response
    .writeHead(httpStatus, {
      ...{ 'Content-Type': 'application/json', 'Content-Length': String(body.length) },
      ...headers,
    })
    .end(body);
  return true;
}
