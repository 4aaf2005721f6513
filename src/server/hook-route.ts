import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { toHttpError } from './error-answers.js';
import { type HookAnswer, hookPath } from './hook.js';
import { renderError } from './http-error.js';
import { allowOnly } from './only-method.js';
import { readBody } from './read-body.js';
import type { ServerLog } from './server-log.js';

export interface HookRouteParts {
  readonly answer: (request: {
    readonly headers: IncomingHttpHeaders;
    readonly body: Uint8Array;
  }) => Promise<HookAnswer>;
  readonly log: ServerLog;
  /** Counts an answer by its status. */
  readonly count: (status: number) => void;
  /** For so long a connection that is to end stays open for the caller to read why, in milliseconds. */
  readonly partingMs: number;
}

/** Bytes; the hook needs less than a hundred. */
const maxBodyBytes = 64 * 1024;

/** Adds the end-of-day hook: what goes over the wire. */
export function addHookRoute(app: FastifyInstance, { answer, log, count, partingMs }: HookRouteParts): void {
  const tell = (status: number, run: object = {}) => {
    count(status);
    log.info({ path: hookPath, status, ...run }, 'end-of-day hook answered');
  };

  app.post(hookPath, async (request, reply) => {
    const reading = await readBody(request.raw, maxBodyBytes);
    if (reading.kind === 'cut-off') return reply.hijack();
    if (reading.kind === 'too-large') {
      tell(413);
      reply.hijack();
      await refuseRest(reply.raw, partingMs);
      return reply;
    }
    try {
      const { status, runId, day } = await answer({ headers: request.headers, body: reading.body });
      tell(status, { run: runId, day });
      return reply.code(status).send({ runId, day, statusUrl: `/runs/${encodeURIComponent(runId)}` });
    } catch (error) {
      tell(toHttpError(error).status);
      throw error;
    }
  });
  allowOnly(app, 'POST', hookPath);
}

/**
 * Says that the body is too large and ends the connection without reading on. A connection that is closed with bytes
 * unread resets, and the caller loses the answer: so it stays open, unread, until the caller has gone, for a while.
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
