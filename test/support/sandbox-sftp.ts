import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import type { ProcessAnswer, ProcessOrder } from './sandbox-sftp-process.js';
import { freeze, makeServerFolder, type SftpServerKind, sessionUser } from './sftp-server.js';

const program = fileURLToPath(new URL('./sandbox-sftp-process.ts', import.meta.url));

/**
 * The sandbox's own: login by password, no posix-rename offered, the served folder is the root. One process serves all
 * sessions, so when it is frozen, a standby takes the new connections, as a new child of sshd's would.
 */
export const sandboxSftp: SftpServerKind = {
  name: "the sandbox's SFTP server",
  needs: undefined,
  replacesInOneStep: false,
  reportsFreeSpace: false,

  async start() {
    const { folder, files } = makeServerFolder();
    const login = { username: 'acme', password: 'pässword "of" acme' };
    const hostKey = await readOrMakeHostKey(join(folder, 'host_key'));
    const order: ProcessOrder = { root: files, hostKey, login, user: sessionUser };

    const processes: ChildProcess[] = [];
    const startProcess = async (): Promise<ProcessAnswer & { pid: number | undefined }> => {
      const child = fork(program, { execArgv: ['--import', 'tsx'] });
      processes.push(child);
      child.send(order);
      const [answer]: ProcessAnswer[] = await once(child, 'message');
      if (answer === undefined) throw new Error(`${sandboxSftp.name} did not start`);
      return { ...answer, pid: child.pid };
    };
    let current = await startProcess();
    let next = startProcess();
    const served = [current];

    const sockets = new Set<Socket>();
    const frontend = createServer((client) => {
      const server = connect(current.port, '127.0.0.1');
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => {}).on('close', () => to.destroy());
        from.pipe(to);
      }
    }).listen(0, '127.0.0.1');
    await once(frontend, 'listening');

    return {
      port: (frontend.address() as AddressInfo).port,
      folder,
      login,
      root: '/',
      fingerprints: [current.fingerprint],
      disk: (path) => join(files, path),
      async freezeSessions() {
        const serving = [...served];
        // Switched at once, so that no new connection goes to a frozen process.
        current = await next;
        served.push(current);
        next = startProcess();
        await freeze(...serving.map(({ pid = 0 }) => pid));
        return serving.length;
      },
      async stop() {
        for (const child of processes) child.kill('SIGKILL');
        for (const socket of sockets) socket.destroy();
        frontend.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
