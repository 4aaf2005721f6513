import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Sits between a client and a server and cuts a connection after a request was processed and before it is answered. */
export interface AnswerCutter {
  readonly port: number;
  /** How many connections were actually cut. */
  readonly cuts: number;
  /** The next request that contains this text reaches the server and is processed; the response is dropped. */
  cutAnswerTo(text: string): void;
  /** The next request that contains this text never reaches the server. */
  cutRequest(text: string): void;
  stop(): Promise<void>;
}

export async function startAnswerCutter(targetPort: number): Promise<AnswerCutter> {
  const sockets = new Set<Socket>();
  let armed: { readonly text: string; readonly passesRequest: boolean } | undefined;
  let cuts = 0;

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    let isDue = false;
    const cut = () => {
      cuts += 1;
      client.resetAndDestroy();
      target.destroy();
    };
    client.on('data', (chunk) => {
      if (armed && chunk.includes(armed.text)) {
        const { passesRequest } = armed;
        armed = undefined;
        if (!passesRequest) return cut();
        isDue = true;
      }
      target.write(chunk);
    });
    target.on('data', (chunk) => {
      if (isDue) cut();
      else client.write(chunk);
    });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    cutAnswerTo(text) {
      armed = { text, passesRequest: true };
    },
    cutRequest(text) {
      armed = { text, passesRequest: false };
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
