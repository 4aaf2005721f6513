import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import type { Tell } from '../common/tell.js';
import { serveChannel } from './channel.js';
import { fingerprintOf } from './host-key.js';

interface SftpOptions {
  /** A name or address of this machine. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The folder that clients see as `/`. */
  readonly root: string;
  /** A private key in OpenSSH format; see readOrMakeHostKey. */
  readonly hostKey: string;
  readonly login: { readonly username: string; readonly password: string };
  readonly tell: Tell;
}

/** ssh2 sends keep-alives every 15 s. Clients that haven't logged in or don't answer are disconnected after this time. */
const silenceMs = 120_000;

/**
 * Starts an SFTP server. Clients with the password see only the root folder; only the owner can read what they create.
 *
 * @throws Error of node:net when it can't listen, for example with the code EADDRINUSE; and for an invalid host key
 */
export async function startSftp({ host, port, root, hostKey, login, tell }: SftpOptions) {
  const fingerprint = fingerprintOf(hostKey);
  const sockets = new Set<Socket>();
  const channels = new Set<ReturnType<typeof serveChannel>>();

  const ssh = new ssh2.Server({ hostKeys: [hostKey], ident: 'HotelReviewSandbox' }, (connection) => {
    // ssh2 closes a broken connection itself, but an unhandled error would end the process.
    connection.on('error', () => {});
    authenticate(connection, login, tell);
    serveSessions(connection, (accept) => {
      const channel = serveChannel(accept(), { root, tell });
      channels.add(channel);
      connection.once('close', () => channel.end().then(() => channels.delete(channel)));
    });
  });

  // Accepts sockets itself, because ssh2 gives no access to those that haven't sent a greeting.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setTimeout(silenceMs, () => socket.destroy());
    ssh.injectSocket(socket);
  });
  server.listen(port, host);
  await once(server, 'listening');

  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    await Promise.all([...channels].map((channel) => channel.end()));
  };
  let stopped: Promise<void> | undefined;
  return {
    host,
    port: (server.address() as AddressInfo).port,
    /** Of the host key, as printed by `ssh-keygen -l`. */
    fingerprint,
    /** Ends all sessions and resolves once no file is open. Idempotent. */
    close() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Offers SFTP on a connection, and refuses shells and commands with an explanation. */
function serveSessions(connection: Connection, serveSftp: (accept: () => ssh2.SFTPWrapper) => void): void {
  const refuse = (accept: () => ServerChannel) => {
    const channel = accept();
    channel.stderr.write('This service is for SFTP only.\r\n');
    channel.exit(1);
    channel.end();
  };
  connection.on('session', (accept) => {
    const session = accept();
    session.on('sftp', serveSftp);
    session.on('shell', refuse);
    session.on('exec', refuse);
  });
}

/**
 * Authenticates by user name and password only. User names that clients sent are not told: people sometimes type passwords
 * there.
 */
function authenticate(connection: Connection, login: SftpOptions['login'], tell: Tell): void {
  let triedOtherwise = false;

  connection.on('authentication', (attempt) => {
    if (attempt.method !== 'password') {
      // Clients use `none` to ask for the available methods.
      triedOtherwise ||= attempt.method !== 'none';
      attempt.reject(['password']);
      return;
    }
    triedOtherwise = false;
    if (attempt.username === login.username && attempt.password === login.password) {
      attempt.accept();
      return;
    }
    tell('SFTP: login refused (wrong-login)');
    attempt.reject(['password']);
  });
  connection.on('ready', () => tell('SFTP: logged in'));
  connection.on('close', () => {
    if (triedOtherwise) tell('SFTP: login refused (no-password)');
  });
}
