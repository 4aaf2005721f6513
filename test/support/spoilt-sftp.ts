import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import ssh2, { type AuthContext, type Connection, type ServerConfig, type SFTPWrapper } from 'ssh2';
import { serveChannel } from '../../src/sandbox/sftp/channel.js';
import { fingerprintOf, readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { makeServerFolder, type RunningSftpServer, type SftpLogin } from './sftp-server.js';

/** How a server differs from the sandbox's. */
export interface Spoiling {
  readonly config?: Omit<ServerConfig, 'hostKeys'>;
  authenticate(attempt: AuthContext): void;
  /** The channel as the sandbox gets it. */
  spoil(channel: SFTPWrapper, connection: Connection): SFTPWrapper;
}

/** The sandbox's SFTP server with other logins and another channel. */
export async function startSpoiltSftp(
  login: SftpLogin,
  { config, authenticate, spoil }: Spoiling,
): Promise<RunningSftpServer> {
  const { folder, files } = makeServerFolder();
  const hostKey = await readOrMakeHostKey(join(folder, 'host_key'));
  const sockets = new Set<Socket>();
  const ssh = new ssh2.Server({ ...config, hostKeys: [hostKey] }, (connection) => {
    connection.on('error', () => {});
    connection.on('authentication', authenticate);
    connection.on('session', (accept) =>
      accept().on('sftp', (open) => {
        serveChannel(spoil(open(), connection), { root: files, tell: () => {} });
      }),
    );
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    ssh.injectSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const root = `root-${randomBytes(4).toString('hex')}`;
  mkdirSync(join(files, root));
  return {
    port: (server.address() as AddressInfo).port,
    login,
    root: `/${root}`,
    fingerprints: [fingerprintOf(hostKey)],
    folder,
    disk: (path) => join(files, root, path),
    freezeSessions: async () => 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The channel with some of its members replaced. */
export function replaceMembers(
  channel: SFTPWrapper,
  different: Readonly<Record<string, unknown>>,
): SFTPWrapper {
  return new Proxy(channel, {
    get(target, name) {
      const own = different[String(name)] ?? Reflect.get(target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}
