import { describe, expect, it } from 'vitest';
import { createSftpServer } from '../../src/transports/sftp/server.js';
import { findFreePort } from '../support/sftp-server.js';

describe('finding the server', () => {
  const options = { username: 'acme', root: '/', hostKeys: [`SHA256:${'A'.repeat(43)}`] };
  const { signal } = new AbortController();

  it('is retryable when nothing listens', async () => {
    const server = createSftpServer({ ...options, host: '127.0.0.1', port: await findFreePort() });
    await expect(server.connect({ signal })).rejects.toMatchObject({
      kind: 'retryable',
      code: 'connection-refused',
    });
  });

  it('is retryable when the name is unknown', async () => {
    const server = createSftpServer({ ...options, host: 'nobody.invalid', port: 22 });
    await expect(server.connect({ signal })).rejects.toMatchObject({
      kind: 'retryable',
      code: 'host-not-found',
    });
  });
});
