import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type RunningSftpServer, type SftpServerKind, sessionUser } from './sftp-server.js';

/**
 * Starts a server for the tests of the current suite, and skips them where that is not possible. What comes back gives
 * the server with an empty folder of its own as root, each time it is called.
 */
export function startForSuite(kind: SftpServerKind): () => RunningSftpServer {
  beforeEach(({ skip }) => skip(kind.needs !== undefined, kind.needs));

  let running: RunningSftpServer | undefined;
  beforeAll(async () => {
    if (kind.needs === undefined) running = await kind.start();
  });
  afterAll(() => running?.stop());

  return () => {
    if (running === undefined) throw new Error(`${kind.name} was not started`);
    const server = running;
    const folder = `root-${randomBytes(6).toString('hex')}`;
    mkdirSync(server.disk(folder));
    chownSync(server.disk(folder), sessionUser.uid, sessionUser.gid);
    return { ...server, root: join(server.root, folder), disk: (path) => server.disk(join(folder, path)) };
  };
}

/** The same for suites that ask for the server many times in a test: its root is one empty folder for each test. */
export function useSftpServer(kind: SftpServerKind): () => RunningSftpServer {
  const serverWithOwnRoot = startForSuite(kind);
  let current: RunningSftpServer | undefined;
  beforeEach(() => {
    current = kind.needs === undefined ? serverWithOwnRoot() : undefined;
  });
  return () => {
    if (current === undefined) throw new Error(`${kind.name} was not started`);
    return current;
  };
}

/** Makes the folder of the tests' day on the server, as an earlier session would have left it. */
export function makeRemoteFolder(server: RunningSftpServer, folder: string): void {
  const path = server.disk(folder);
  mkdirSync(path, { recursive: true });
  for (const made of [server.disk('VerifyMappings'), path]) chownSync(made, sessionUser.uid, sessionUser.gid);
}
