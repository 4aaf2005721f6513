import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Sits between a client and a server on this machine, and simulates network failures. */
export interface TcpProxy {
  readonly port: number;
  /** How often each fault actually happened, and how much got through. */
  readonly happened: {
    readonly connections: number;
    readonly resets: number;
    readonly swallowedChunks: number;
    /** How much has been passed on to clients. */
    readonly bytesToClient: number;
  };
  /** Resets a connection, on both sides, once it has passed this many bytes to the server. */
  resetAfter(bytesToServer: number): void;
  /** Resets the open connections, on both sides. */
  cutAll(): void;
  /** From now on nothing gets through in either direction, without any error. */
  blackHole(): void;
  /** From now on requests get through, but only this many more chunks of the responses. */
  dropAnswersAfter(chunks: number): void;
  /**
   * Called before each chunk is passed on, so a test can act at that exact moment. If it returns a promise, the chunk
   * waits for it.
   */
  beforePassing(callBack: BeforePassing): void;
  /** From now on new connections, and new data on the old ones, get through again. */
  heal(): void;
  /** Resolves when the client has ended all its connections. */
  clientsGone(): Promise<void>;
  stop(): Promise<void>;
}

type BeforePassing = (to: 'server' | 'client', chunk: Buffer) => void | Promise<void>;

/** @param port to listen on; any free one by default */
export async function startTcpProxy(targetPort: number, port = 0): Promise<TcpProxy> {
  const happened = { connections: 0, resets: 0, swallowedChunks: 0, bytesToClient: 0 };
  const clients = new Set<Socket>();
  let resetAt = Number.POSITIVE_INFINITY;
  let passRequests = true;
  let answersToPass = Number.POSITIVE_INFINITY;
  let beforePassing: BeforePassing = () => {};

  /** Data after the chunk waits with it. */
  function passOn(from: Socket, to: 'server' | 'client', chunk: Buffer, pass: () => void): void {
    const before = beforePassing(to, chunk);
    if (!(before instanceof Promise)) return pass();
    from.pause();
    void before.finally(() => {
      pass();
      from.resume();
    });
  }

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    let bytesToServer = 0;
    happened.connections += 1;
    clients.add(client);

    const passToServer = (chunk: Buffer) => {
      if (!passRequests) {
        happened.swallowedChunks += 1;
        return;
      }
      const allowed = chunk.subarray(0, Math.max(0, resetAt - bytesToServer));
      bytesToServer += allowed.length;
      target.write(allowed, () => {
        if (bytesToServer < resetAt || client.destroyed) return;
        happened.resets += 1;
        target.resetAndDestroy();
        client.resetAndDestroy();
      });
    };
    const passToClient = (chunk: Buffer) => {
      answersToPass -= 1;
      if (answersToPass >= 0) {
        happened.bytesToClient += chunk.length;
        client.write(chunk);
      } else happened.swallowedChunks += 1;
    };
    client.on('data', (chunk) => passOn(client, 'server', chunk, () => passToServer(chunk)));
    target.on('data', (chunk) => passOn(target, 'client', chunk, () => passToClient(chunk)));
    client.on('close', () => {
      clients.delete(client);
      target.destroy();
    });
    target.on('close', () => client.destroy());
    client.on('error', () => {});
    target.on('error', () => {});
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    happened,
    resetAfter(bytesToServer) {
      resetAt = bytesToServer;
    },
    cutAll() {
      for (const client of clients) client.resetAndDestroy();
    },
    blackHole() {
      passRequests = false;
      answersToPass = 0;
    },
    dropAnswersAfter(chunks) {
      answersToPass = chunks;
    },
    beforePassing(callBack) {
      beforePassing = callBack;
    },
    heal() {
      beforePassing = () => {};
      resetAt = Number.POSITIVE_INFINITY;
      passRequests = true;
      answersToPass = Number.POSITIVE_INFINITY;
    },
    async clientsGone() {
      await Promise.all(
        [...clients].map((client) => new Promise((resolve) => client.once('close', resolve))),
      );
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}
