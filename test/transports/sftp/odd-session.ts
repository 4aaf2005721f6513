import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import { type Oddities, startOddSftp } from '../../support/odd-sftp.js';

/** A session with an odd server; both end with the test. */
export async function openOddSession(oddities: Oddities, options: Partial<SftpServerOptions> = {}) {
  const server = await startOddSftp(oddities);
  onTestFinished(() => server.stop());
  const { port, login, root, fingerprints } = server;
  const limits = { lateSizeMs: 0 };
  const sftp = createSftpServer({
    ...{ host: '127.0.0.1', port, ...login, root, hostKeys: fingerprints, limits },
    ...options,
  });
  const session = await sftp.connect({ signal: new AbortController().signal });
  onTestFinished(() => session.close());
  function put(path: string, content: string | Buffer = 'content'): void {
    mkdirSync(dirname(server.disk(path)), { recursive: true });
    writeFileSync(server.disk(path), content);
  }
  return { server: { ...server, put }, session };
}
