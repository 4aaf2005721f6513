import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createSftpServer } from '../../src/transports/sftp/server.js';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';

const server = startForSuite(openSsh);

it('a server whose host key is not pinned learns no user name', async () => {
  const { port, root, login, folder } = server();
  const hostKeys = [`SHA256:${'0'.repeat(43)}`];
  const { connect } = createSftpServer({ host: '127.0.0.1', port, root, ...login, hostKeys });
  await expect(connect({ signal: new AbortController().signal })).rejects.toMatchObject({
    code: 'host-key-refused',
  });
  const log = () => readFileSync(join(folder, 'sshd.log'), 'utf8');
  await vi.waitUntil(() => log().includes('[preauth]'), { timeout: patienceMs, interval: 10 });
  // sshd logs the name of anyone who starts to log in.
  expect(log()).not.toMatch(/\buser\b/);
});
