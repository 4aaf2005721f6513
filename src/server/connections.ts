import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './server.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  readonly socket: Socket;
  /** In the order in which they arrived: the first is in progress, the others wait. */
  readonly exchanges: Exchange[];
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
export function serveConnections(
  server: Server,
  handle: RequestListener,
  { connections: most, waitingRequests }: Pick<ServerLimits, 'connections' | 'waitingRequests'>,
): { closeAll(): void } {
  // In the order in which they were last used.
  const open = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      const idle = findIdle([...open.values()]);
      if (idle) cut(idle);
      else socket.destroy();
      if (!idle) return;
    }
    const name = nameOf(socket);
    open.set(name, { socket, exchanges: [] });
    socket.once('close', () => {
      if (open.get(name)?.socket === socket) open.delete(name);
    });
  });

  server.on('request', (request, response) => {
    const connection = open.get(nameOf(request.socket));
    // Requests that were already read when their connection was cut.
    if (connection === undefined) return;
    const { exchanges } = connection;
    if (exchanges.length > waitingRequests) {
      cut(connection);
      return;
    }
    exchanges.push({ request, response });
    if (exchanges.length === 1) start(connection, { request, response });
  });

  function start(connection: Connection, { request, response }: Exchange): void {
    // Also emitted when the connection ends.
    response.once('close', () => {
      const { socket, exchanges } = connection;
      exchanges.shift();
      const name = nameOf(socket);
      if (open.get(name) !== connection) return;
      open.delete(name);
      open.set(name, connection);
      const [next] = exchanges;
      if (next && !next.request.socket.destroyed) start(connection, next);
    });
    handle(request, response);
  }

  function cut({ socket }: Connection): void {
    open.delete(nameOf(socket));
    socket.destroy();
  }

  return {
    closeAll() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

/** The first that waits for its caller: to send a request, the rest of one, or to read the response. */
function findIdle(connections: readonly Connection[]): Connection | undefined {
  return (
    connections.find(({ exchanges: [current] }) => current === undefined) ??
    connections.find(({ exchanges: [current] }) => current?.request.complete === false) ??
    connections.find(({ exchanges: [current] }) => current && isUnread(current.response))
  );
}

/** Whether a response, or a part of it, has been written but not yet taken by its caller. */
function isUnread({ writableEnded, writableNeedDrain }: ServerResponse): boolean {
  return writableEnded || writableNeedDrain;
}

/** With TLS, a request has another socket object than its connection. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
