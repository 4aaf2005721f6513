import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createSftpDayFile } from '../../../src/sources/files/remote-day-files.js';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import { openSsh } from '../../support/sftp-programs.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { useSftpServer } from '../../support/use-servers.js';
import { day, expectFault, readFile } from '../reading.js';

const server = useSftpServer(openSsh);
const bytes = randomBytes(9_000_000);
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

describe('a file of a day on an SFTP server', () => {
  let proxy: TcpProxy;
  beforeEach(async () => {
    proxy = await startTcpProxy(server().port);
    onTestFinished(() => proxy.stop());
  });

  const name = '2026-11-20.bin';
  const lay = (content: Uint8Array) => writeFileSync(server().disk(name), content);
  const open = (options: Partial<SftpServerOptions> = {}, transferMs = 600_000) => {
    const { login, root, fingerprints } = server();
    return createSftpDayFile({
      address: 'sftp://drop.example.com:22',
      transferMs,
      path: '{day}.bin',
      open: async () =>
        createSftpServer({
          host: '127.0.0.1',
          port: proxy.port,
          ...login,
          root,
          hostKeys: fingerprints,
          ...options,
        }),
    });
  };

  const readAll = (onBlock?: (count: number) => void, file = open()) => readFile(file, onBlock);

  it('is resumed after the connection is cut', async () => {
    lay(bytes);
    let cuts = 0;
    const content = await readAll((count) => {
      if (count !== 10 && count !== 50) return;
      cuts += 1;
      proxy.cutAll();
    });
    expect(cuts).toBe(2);
    expect(hashOf(content)).toBe(hashOf(bytes));
    expect(await open().measure(day)).toBeUndefined();
    expect(proxy.happened.bytesToClient).toBeLessThan(bytes.length * 1.5);
  });

  it('is truncated if the server does not come back', async () => {
    lay(bytes);
    const reading = readAll((count) => {
      if (count !== 10) return;
      // It keeps its port: another server could listen there next, with another host key.
      proxy.resetAfter(0);
      proxy.cutAll();
    });
    const error = await expectFault(reading, 'truncated', /2026-11-20\.bin can't be read: /);
    expect(error.peer).toBe('passing');
  });

  it('is given up after its time, even if the server only is silent', async () => {
    proxy.blackHole();
    await expectFault(readAll(undefined, open({}, 100)), 'unreadable', /is not read after 0\.1 s/);
  });

  it.each([
    ['grows', () => appendFileSync(server().disk(name), 'more')],
    ['becomes shorter', () => truncateSync(server().disk(name), 5_000_000)],
    ['is written again', () => utimesSync(server().disk(name), 1_000, 1_000)],
    ['is moved away', () => renameSync(server().disk(name), server().disk('elsewhere'))],
  ])('is truncated if it %s meanwhile: it is still being written', async (_, change) => {
    lay(bytes);
    const reading = readAll((count) => {
      if (count === 10) change();
    });
    await expectFault(reading, 'truncated', /changed while it was read/);
  });

  it('that cannot be read fails with its reason, and without the password', async () => {
    const none = /there is no file sftp:\/\/drop\.example\.com:22\/2026-11-20\.bin/;
    await expectFault(readAll(), 'missing', none);
    lay(Buffer.alloc(0));
    expect(await readAll()).toHaveLength(0);
    lay(bytes);
    chmodSync(server().disk(name), 0);
    await expectFault(readAll(), 'unreadable', /denies it/);
    const unpinned = open({ hostKeys: [`SHA256:${'A'.repeat(43)}`] });
    await expectFault(readAll(undefined, unpinned), 'login-refused', /which is not pinned/);
    const stranger = open({ username: 'nobody-else', password: 'hush-canary' });
    await expectFault(readAll(undefined, stranger), 'login-refused', /refused the login/, ['hush']);
  });
});
