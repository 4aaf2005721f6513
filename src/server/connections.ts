import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** One connection, and the request that it carries at the moment. */
interface Connection {
  readonly socket: Socket;
  request?: IncomingMessage;
}

/**
 * Keeps the connections of a server below a limit, so that its callers can't take the descriptors that a review needs. Beyond it,
 * the connection that has waited longest for its caller gives way to the new one: idle connections can't shut out probes.
 *
 * @returns a way to cut them all, including those that have not finished the handshake of TLS
 */
export function limitConnections(server: Server, most: number): { closeAll(): void } {
  // In the order in which they were last used.
  const open = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      const all = [...open.values()];
      const idle = all.find(({ request }) => request === undefined) ?? all.find(isIncomplete);
      if (idle) open.delete(nameOf(idle.socket));
      (idle?.socket ?? socket).destroy();
      if (!idle) return;
    }
    const name = nameOf(socket);
    open.set(name, { socket });
    socket.once('close', () => {
      if (open.get(name)?.socket === socket) open.delete(name);
    });
  });

  server.on('request', (request, response) => {
    const name = nameOf(request.socket);
    const connection = open.get(name);
    if (connection === undefined) return;
    connection.request = request;
    response.once('close', () => {
      delete connection.request;
      if (open.delete(name)) open.set(name, connection);
    });
  });

  return {
    closeAll() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

function isIncomplete({ request }: Connection): boolean {
  return request !== undefined && !request.complete;
}

/** With TLS, a request has another socket object than its connection. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
