import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { serveChannel } from '../../src/sandbox/sftp/channel.js';
import { fingerprintOf, readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { createJail } from '../../src/sandbox/sftp/jail.js';
import { makeServerFolder, type RunningSftpServer, type SftpLogin } from './sftp-server.js';

/** At first, one in this many requests of a kind is refused. */
const refusedEvery = 5;
const refusedAtMost = 3;
const refusable: readonly string[] = ['OPEN', 'STAT', 'LSTAT', 'OPENDIR', 'RENAME', 'EXTENDED', 'FSTAT'];

export interface HostileSftp extends RunningSftpServer {
  /** How many messages quoted what the client must not tell others. */
  quoted(): number;
}

/**
 * An SFTP server that accepts every login, refuses some requests, and quotes in its banner and in each of its messages
 * whatever must not leak: how the client logged in, and the texts that it is given.
 */
export async function startHostileSftp(login: SftpLogin, quote: () => string): Promise<HostileSftp> {
  const { folder, files } = makeServerFolder();
  const hostKey = await readOrMakeHostKey(join(folder, 'host_key'));
  const jail = await createJail(files);
  let quoted = 0;
  let secret = '';
  const say = (message = '') => {
    quoted += 1;
    return `${message}: ${quote()} ${secret}\u001b[2J\r\n`;
  };
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();

  /** The channel as the sandbox serves it, with our messages. */
  function spoil(channel: SFTPWrapper): SFTPWrapper {
    const refuse = (name: string, id: number): boolean => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const isDue = count % refusedEvery === 0 && count <= refusedEvery * refusedAtMost;
      if (!refusable.includes(name) || !isDue) return false;
      channel.status(id, ssh2.utils.sftp.STATUS_CODE.FAILURE, say(name));
      return true;
    };
    const different: Readonly<Record<string, unknown>> = {
      status: (id: number, code: number, message?: string) => channel.status(id, code, say(message)),
      on: (name: string, listener: (...given: unknown[]) => void) =>
        (channel as NodeJS.EventEmitter).on(name, (...given: unknown[]) => {
          if (!refuse(name, Number(given[0]))) listener(...given);
        }),
    };
    return new Proxy(channel, {
      get(target, name) {
        const own = different[String(name)] ?? Reflect.get(target, name);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
  }

  const ssh = new ssh2.Server(
    { hostKeys: [hostKey], banner: say('welcome'), ident: 'Hostile', greeting: 'none' },
    (connection) => {
      connection.on('error', () => {});
      connection.on('authentication', (attempt) => {
        if (attempt.method === 'none') return attempt.reject(['password', 'publickey']);
        if (attempt.method === 'password') secret = attempt.password;
        attempt.accept();
      });
      connection.on('session', (accept) =>
        accept().on('sftp', (open) => {
          serveChannel(spoil(open()), { jail, clock: Date.now, onEvent: () => {} });
        }),
      );
    },
  );
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
    quoted: () => quoted,
    freezeSessions: async () => 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
