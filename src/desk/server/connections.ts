import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './server.js';

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
export function serveConnections(
  server: Server,
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
