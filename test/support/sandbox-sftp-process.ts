import { startSftp } from '../../src/sandbox/sftp/sftp-server.js';

/** What the process is told at its start. */
export interface ProcessOrder {
  readonly root: string;
  readonly hostKey: string;
  readonly login: { readonly username: string; readonly password: string };
  /** Who it becomes, so that the disk's permissions mean something. */
  readonly user: { readonly uid: number; readonly gid: number };
}

/** What it answers. */
export interface ProcessAnswer {
  readonly port: number;
  readonly fingerprint: string;
}

/** The sandbox's SFTP server in a process of its own: one that can be another user's, and frozen. */
process.once('message', async ({ root, hostKey, login, user }: ProcessOrder) => {
  if (process.getuid?.() === 0) {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  }
  const { port, fingerprint } = await startSftp({
    port: 0,
    root,
    hostKey,
    login,
    clock: Date.now,
    onEvent: () => {},
  });
  process.send?.({ port, fingerprint } satisfies ProcessAnswer);
});
process.once('disconnect', () => process.exit());
