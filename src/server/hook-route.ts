import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type HookAnswer, hookPath } from './hook.js';
import { allowOnly, renderError, toHttpError } from './http-error.js';
import type { ServerLog } from './ports.js';

interface HookRouteParts {
  readonly answer: (request: {
    readonly headers: IncomingHttpHeaders;
    readonly body: Uint8Array;
    readonly address: string;
  }) => Promise<HookAnswer>;
  readonly log: ServerLog;
  /** Counts a response by its status. */
  readonly count: (status: number) => void;
  /** How long a refused connection stays open for the caller to read the response, in milliseconds. */
  readonly partingMs: number;
}

/** Bytes; the hook needs less than a hundred. */
const maxBodyBytes = 64 * 1024;

/** Adds the route of the end-of-day hook. */
export function addHookRoute(app: FastifyInstance, { answer, log, count, partingMs }: HookRouteParts): void {
  const record = (status: number, run: object = {}) => {
    count(status);
    log.info({ path: hookPath, status, ...run }, 'end-of-day hook answered');
  };

  app.post(hookPath, async (request, reply) => {
    const reading = await readBody(request.raw, maxBodyBytes);
    if (reading.kind === 'cut-off') return reply.hijack();
    if (reading.kind === 'too-large') {
      record(413);
      reply.hijack();
      await refuseRest(reply.raw, partingMs);
      return reply;
    }
    try {
      const { status, runId, day } = await answer({
        headers: request.headers,
        body: reading.body,
        address: request.raw.socket.remoteAddress ?? '',
      });
      record(status, { run: runId, day });
      return reply.code(status).send({ runId, day, statusUrl: `/runs/${encodeURIComponent(runId)}` });
    } catch (error) {
      record(toHttpError(error).status);
      throw error;
    }
  });
  allowOnly(app, ['POST'], hookPath);
}

/**
 * Responds that the body is too large, and ends the connection without reading the rest. Closing a connection with unread bytes
 * resets it, and the caller loses the response: so it stays open, unread, for a while or until the caller disconnects.
 */
async function refuseRest(response: ServerResponse, partingMs: number): Promise<void> {
  const body = renderError(413, `the body is larger than ${maxBodyBytes} bytes`);
  response.writeHead(413, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.write(body);
  await Promise.race([once(response, 'close'), wait(partingMs)]);
  response.end();
}

export type BodyReading =
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** The rest is left unread. */
  | { readonly kind: 'too-large' }
  /** The caller disconnected before the body was complete. */
  | { readonly kind: 'cut-off' };

/** Reads a request's body as raw bytes, and stops once it exceeds the limit. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyReading> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return Promise.resolve({ kind: 'too-large' });
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      request.removeAllListeners('data').pause();
      resolve({ kind: 'too-large' });
    });
    request.once('end', () => resolve({ kind: 'whole', body: Buffer.concat(parts) }));
    // 'close' follows; without a listener the error would be thrown.
    request.once('error', () => {});
    request.once('close', () => resolve({ kind: 'cut-off' }));
  });
}
