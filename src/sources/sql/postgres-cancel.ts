import { connect } from 'node:net';
import type pg from 'pg';

const cancelRequest = 80_877_102;
const patienceMs = 2_000;

/**
 * Ends a connection and whatever its server is doing for it: a server that is deep in a query doesn't notice that nobody
 * listens any more. It is told by a cancel request, which needs no login and gets through a pooler too. It never throws.
 */
export async function cancelPostgresQuery(client: pg.Client): Promise<void> {
  const { host, port } = client;
  const { processID, secretKey } = readKey(client);
  cut(client);
  if (processID === undefined || secretKey === undefined) return;
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelRequest, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  await new Promise<void>((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    // The server answers by hanging up.
    socket.once('close', () => resolve());
    socket.once('error', () => resolve());
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.resume();
    socket.end(request);
  });
}

function readKey(client: pg.Client) {
  const number = (name: string) => {
    const value: unknown = Reflect.get(client, name);
    return typeof value === 'number' ? value : undefined;
  };
  return { processID: number('processID'), secretKey: number('secretKey') };
}

function cut(client: pg.Client): void {
  const { stream } = Reflect.get(client, 'connection') as { readonly stream: { destroy(): void } };
  stream.destroy();
}
