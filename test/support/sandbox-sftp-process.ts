import { startSftp } from '../../src/sandbox/sftp/sftp-server.js';

/** The message that starts the process. */
export interface ProcessOrder {
  readonly root: string;
  readonly hostKey: string;
  readonly login: { readonly username: string; readonly password: string };
  /** The user to run as, so that file permissions apply. */
  readonly user: { readonly uid: number; readonly gid: number };
}

/** Its answer. */
export interface ProcessAnswer {
  readonly port: number;
  readonly fingerprint: string;
}

/** The sandbox's SFTP server as a process, which can run as another user and be frozen. */
process.once('message', async ({ root, hostKey, login, user }: ProcessOrder) => {
  if (process.getuid?.() === 0) {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  }
  const { port, fingerprint } = await startSftp({
    host: '127.0.0.1',
    port: 0,
    root,
    hostKey,
    login,
    tell: () => {},
  });
  process.send?.({ port, fingerprint } satisfies ProcessAnswer);
});
process.once('disconnect', () => process.exit());
