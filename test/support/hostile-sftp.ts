import ssh2, { type SFTPWrapper } from 'ssh2';
import type { RunningSftpServer, SftpLogin } from './sftp-server.js';
import { replaceMembers, startSpoiltSftp } from './spoilt-sftp.js';

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
  let quoted = 0;
  let secret = '';
  const say = (message = '') => {
    quoted += 1;
    return `${message}: ${quote()} ${secret}\u001b[2J\r\n`;
  };
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
    return replaceMembers(channel, {
      status: (id: number, code: number, message?: string) => channel.status(id, code, say(message)),
      on: (name: string, listener: (...given: unknown[]) => void) =>
        (channel as NodeJS.EventEmitter).on(name, (...given: unknown[]) => {
          if (!refuse(name, Number(given[0]))) listener(...given);
        }),
    });
  }

  const server = await startSpoiltSftp(login, {
    config: { banner: say('welcome'), ident: 'Hostile', greeting: 'none' },
    authenticate(attempt) {
      if (attempt.method === 'none') return attempt.reject(['password', 'publickey']);
      if (attempt.method === 'password') secret = attempt.password;
      attempt.accept();
    },
    spoil,
  });
  return { ...server, quoted: () => quoted };
}
