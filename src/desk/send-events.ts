import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pause } from '../async/abort.js';
import type { Html } from '../text/html.js';

/** Often enough for servers between us and the browser that cut idle connections. */
const checkMs = 10_000;

/**
 * Sends server-sent events until there are no more, the caller has gone, or the visitor's session has ended.
 *
 * @param isStillAdmitted whether the session still lasts
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<Html>,
  signal: AbortSignal,
  isStillAdmitted: () => Promise<boolean>,
): Promise<void> {
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // A proxy must not buffer the events.
    'x-accel-buffering': 'no',
  });
  const watching = watchSession();
  try {
    for await (const { markup } of events) {
      if (stop.aborted) break;
      const hasRoom = response.write(`event: content\ndata: ${markup.replaceAll('\n', '\ndata: ')}\n\n`);
      // For a caller that doesn't read, events would pile up: it gets the state at the time when it reads on.
      if (!hasRoom) await once(response, 'drain', { signal: stop });
    }
    // Without the end event, the browser reconnects once the server is back.
    response.end(stop.aborted ? undefined : 'event: end\ndata:\n\n');
  } catch {
    // The browser reconnects, and gets the error as a response.
    response.end();
  } finally {
    ended.abort();
    await watching;
  }

  async function watchSession(): Promise<void> {
    for (;;) {
      await pause(checkMs, stop);
      if (stop.aborted) return;
      if (!(await isStillAdmitted().catch(() => false))) break;
      // Each write would also postpone the moment when a connection that is never read is cut.
      if (!response.writableNeedDrain) response.write(': still here\n\n');
    }
    response.destroy();
  }
}
