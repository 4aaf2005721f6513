import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { expectNoLeak } from './leaks.js';
import { type Mariadb, mariadbNeeds, startMariadb } from './mariadb.js';
import { type Postgres, postgresNeeds, startPostgres } from './postgres.js';
import { type RunningRedis, redisNeeds, startRedis } from './redis.js';
import { type RunningSftpServer, type SftpServerKind, sessionUser } from './sftp-server.js';

/**
 * Starts a server for the tests of the current suite, and skips them where that is impossible. Each call of the
 * returned function gives the server with a new empty folder as its root.
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

/** The same for suites that need the server many times in a test: its root is one empty folder per test. */
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

/** Creates the folder of the tests' day on the server, as an earlier session would have left it. */
export function makeRemoteFolder(server: RunningSftpServer, folder: string): void {
  const path = server.disk(folder);
  mkdirSync(path, { recursive: true });
  for (const made of [server.disk('VerifyMappings'), path]) chownSync(made, sessionUser.uid, sessionUser.gid);
}

/** Starts a server for the tests of the current suite, and skips them where that is impossible. */
export function usePostgres(
  options: { readonly fsync?: boolean; readonly connections?: number } = {},
): () => Postgres {
  beforeEach(({ skip }) => skip(postgresNeeds !== undefined, postgresNeeds));
  let running: Postgres | undefined;
  beforeAll(async () => {
    if (postgresNeeds === undefined) running = await startPostgres(options);
  });
  afterAll(() => running?.remove());
  return () => {
    if (running === undefined) throw new Error('PostgreSQL was not started');
    return running;
  };
}

/** One server for the tests of the current suite, emptied for each of them; they are skipped where there is none. */
export function useRedis(): () => RunningRedis {
  beforeEach(({ skip }) => skip(redisNeeds !== undefined, redisNeeds));

  let running: RunningRedis | undefined;
  beforeAll(async () => {
    if (redisNeeds === undefined) running = await startRedis();
  });
  afterEach(async () => {
    if (running === undefined) return;
    expectNoLeak('Redis', await running.readEverything());
    await running.flushAll();
  });
  afterAll(() => running?.close());

  return () => {
    if (running === undefined) throw new Error('Redis was not started');
    return running;
  };
}

/** Starts a server for the tests of the current suite, and skips them where that is impossible. */
export function useMariadb(): () => Mariadb {
  beforeEach(({ skip }) => skip(mariadbNeeds !== undefined, mariadbNeeds));
  let running: Mariadb | undefined;
  beforeAll(async () => {
    if (mariadbNeeds === undefined) running = await startMariadb();
  });
  afterAll(() => running?.remove());
  return () => {
    if (running === undefined) throw new Error('MariaDB was not started');
    return running;
  };
}
