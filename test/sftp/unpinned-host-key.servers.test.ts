import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { presentHostKey } from '../../src/transports/sftp/server.js';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { findFreePort } from '../support/sftp-server.js';
import { startForSuite } from '../support/use-servers.js';

const { signal } = new AbortController();
const timeoutMs = 10_000;

describe('the host key that a server presents', () => {
  const server = startForSuite(openSsh);

  it('is returned as ssh-keygen prints it, without a login', async () => {
    const { port, folder } = server();
    const key = await presentHostKey({ host: '127.0.0.1', port, timeoutMs }, signal);
    const line = execFileSync('ssh-keygen', ['-l', '-f', join(folder, 'host_ed25519')], { encoding: 'utf8' });
    expect(key).toEqual({ fingerprint: line.split(' ')[1], type: 'ssh-ed25519' });
    const log = () => readFileSync(join(folder, 'sshd.log'), 'utf8');
    await vi.waitUntil(() => log().includes('[preauth]'), { timeout: patienceMs, interval: 10 });
    // sshd logs the name of anyone who starts to log in.
    expect(log()).not.toMatch(/\buser\b/);
  });
});

it('is an error where nothing listens', async () => {
  const port = await findFreePort();
  await expect(presentHostKey({ host: '127.0.0.1', port, timeoutMs }, signal)).rejects.toMatchObject({
    name: 'SftpError',
    code: 'connection-refused',
  });
});
