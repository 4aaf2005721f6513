import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createSftpServer, type SftpServerOptions } from '../../../../src/transports/sftp/server.js';
import type { SftpSession } from '../../../../src/transports/sftp/sftp.js';
import { type RunningSftpServer, type SftpServerKind, sessionUser } from '../../../support/sftp-server.js';

export const retryable = (code: string) => expect.objectContaining({ kind: 'retryable', code });
export const denied = expect.objectContaining({ kind: 'denied', code: 'permission-denied' });
/** Large enough for the files of these tests. */
export const limit = { bytes: 100_000_000, advice: '' };

/** A server of one kind with what the session tests need. */
export interface SessionTrial {
  readonly kind: SftpServerKind;
  server(): RunningSftpServer;
  /** A new session, closed after the test. */
  connect(options?: Partial<SftpServerOptions>, signal?: AbortSignal): Promise<SftpSession>;
  /** A session that stays open: connecting to ProFTPD takes 0.4 s. */
  usual(): Promise<SftpSession>;
  /** A temporary folder of the client. */
  readonly local: string;
  /** A new file of the client. */
  localFile(content: string | Buffer): string;
  /** A new folder on the server, as a path of the session. */
  newFolder(mode?: number): string;
  /** Translates a path of the session to one on the server's disk. */
  disk(path: string): string;
  /** Creates a file on the server's disk, owned by the session's user. */
  put(path: string, content: string | Buffer): void;
  onDisk(path: string): Buffer;
}

/** Starts the server before the tests of the current suite, and skips them where it is not available. */
export function prepareTrial(kind: SftpServerKind): SessionTrial {
  beforeEach(({ skip }) => skip(kind.needs !== undefined, kind.needs));

  const local = mkdtempSync(join(tmpdir(), 'sftp-local-'));
  let running: RunningSftpServer | undefined;
  let kept: Promise<SftpSession> | undefined;
  const sessions: SftpSession[] = [];
  const folders: string[] = [];
  beforeAll(async () => {
    if (kind.needs === undefined) running = await kind.start();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
  });
  afterAll(async () => {
    rmSync(local, { recursive: true });
    await (await kept)?.close();
    // Only root could remove the content of read-only folders.
    for (const folder of folders) chmodSync(disk(folder), 0o755);
    await running?.stop();
  });

  const server = () => {
    if (running === undefined) throw new Error(`${kind.name} was not started`);
    return running;
  };
  const open: SessionTrial['connect'] = (options = {}, signal = new AbortController().signal) => {
    const { port, login, root, fingerprints } = server();
    const all = { host: '127.0.0.1', port, ...login, root, hostKeys: fingerprints, ...options };
    return createSftpServer(all).connect({ signal });
  };
  const disk = (path: string) => server().disk(path);
  const giveToSession = (path: string) => chownSync(disk(path), sessionUser.uid, sessionUser.gid);

  return {
    kind,
    server,
    local,
    disk,
    async connect(options, signal) {
      const session = await open(options, signal);
      sessions.push(session);
      return session;
    },
    usual() {
      kept ??= open();
      return kept;
    },
    localFile(content) {
      const path = join(local, randomBytes(6).toString('hex'));
      writeFileSync(path, content);
      return path;
    },
    newFolder(mode = 0o755) {
      const folder = `t-${randomBytes(6).toString('hex')}`;
      mkdirSync(disk(folder));
      folders.push(folder);
      giveToSession(folder);
      chmodSync(disk(folder), mode);
      return folder;
    },
    put(path, content) {
      writeFileSync(disk(path), content);
      giveToSession(path);
    },
    onDisk: (path) => readFileSync(disk(path)),
  };
}
