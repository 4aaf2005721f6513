import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import { isSameSecret } from '../common/same-secret.js';
import { type SftpChannel, serveChannel } from './channel.js';
import { fingerprintOf } from './host-key.js';
import { createJail } from './jail.js';
import type { SftpEvent } from './sftp-event.js';

export interface SandboxSftp {
  readonly host: string;
  readonly port: number;
  /** Of the host key, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** Ends all sessions, and resolves when no file is open any more. Idempotent. */
  close(): Promise<void>;
}

export interface SftpOptions {
  /** A name or an address of this machine; 127.0.0.1 if not given. */
  readonly host?: string;
  /** 0 for any free one. */
  readonly port: number;
  /** The folder of this disk that clients see as `/`. It is made when it is not there. */
  readonly root: string;
  /** A private key in OpenSSH form; see readOrMakeHostKey. */
  readonly hostKey: string;
  readonly login: Login;
  readonly clock: () => number;
  readonly onEvent: (event: SftpEvent) => void;
}

/** ssh2 asks a silent client every 15 s whether it is there. One that hasn't logged in, or is gone, is ended after this. */
const silenceMs = 120_000;

/**
 * Starts an SFTP server. Whoever knows the password sees the root folder and nothing else of the
 * disk; what is made there can be read by its owner only.
 *
 * @throws Error of node:net when it can't listen there, for example with the code EADDRINUSE; or for a host key that is none
 */
export async function startSftp({
  host = '127.0.0.1',
  port,
  root,
  hostKey,
  login,
  clock,
  onEvent,
}: SftpOptions): Promise<SandboxSftp> {
  const fingerprint = fingerprintOf(hostKey);
  const jail = await createJail(root);
  const sockets = new Set<Socket>();
  const channels = new Set<SftpChannel>();

  const ssh = new ssh2.Server({ hostKeys: [hostKey], ident: 'HotelReviewSandbox' }, (connection) => {
    // A broken connection is closed by ssh2; without a listener the error would end the process.
    connection.on('error', () => {});
    guardLogin(connection, login, onEvent);
    serveSessions(connection, (accept) => {
      const channel = serveChannel(accept(), { jail, clock, onEvent });
      channels.add(channel);
      connection.once('close', () => channel.end().then(() => channels.delete(channel)));
    });
  });

  // The sockets are our own, because ssh2 keeps those to itself that have not greeted yet.
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
    fingerprint,
    close() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Lets a connection have SFTP, and tells those that want a shell or a command why they don't get it. */
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

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** As many as OpenSSH allows. */
const maxWrongPasswords = 6;

/** Lets a client in who knows user name and password; no other way of logging in is offered. */
export function guardLogin(connection: Connection, login: Login, onEvent: (event: SftpEvent) => void): void {
  let wrongPasswords = 0;
  let triedOtherwise = false;
  let loggedIn = false;

  connection.on('authentication', (attempt) => {
    if (attempt.method !== 'password') {
      // With none, clients ask what there is.
      if (attempt.method !== 'none') triedOtherwise = true;
      attempt.reject(['password']);
      return;
    }
    // Both are compared: how long it takes says nothing of which was wrong.
    const userFits = isSameSecret(attempt.username, login.username);
    const passwordFits = isSameSecret(attempt.password, login.password);
    if (userFits && passwordFits) {
      attempt.accept();
      return;
    }
    wrongPasswords += 1;
    onEvent({ kind: 'login-refused', reason: 'wrong-login' });
    if (wrongPasswords < maxWrongPasswords) attempt.reject(['password']);
    else connection.end();
  });
  connection.on('ready', () => {
    loggedIn = true;
    onEvent({ kind: 'logged-in' });
  });
  connection.on('close', () => {
    const gaveUp = !loggedIn && wrongPasswords === 0 && triedOtherwise;
    if (gaveUp) onEvent({ kind: 'login-refused', reason: 'no-password' });
  });
}
