import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sftpSettings } from '../support/file-day.js';
import { day, failuresOf, settingsOf, takeSample } from '../support/sampled.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';
import { csv, longCsv, sampledCsv } from './sampled-files.js';

describe('the sample of a file on an SFTP server', () => {
  const server = useSftpServer(openSsh);
  let proxy: TcpProxy;
  beforeEach(async () => {
    proxy = await startTcpProxy(server().port);
    onTestFinished(() => proxy.stop());
  });
  const settings = (others: { readonly [name: string]: unknown } = {}) => {
    const { sftp } = sftpSettings(server(), proxy.port) as { sftp: { [name: string]: unknown } };
    const { host: _host, port: _port, root, ...account } = sftp;
    const path = `sftp://127.0.0.1:${proxy.port}${root}/{day}.csv`;
    return settingsOf({ kind: 'csv', path, sftp: { ...account, ...others } });
  };
  const lay = (content: string | Uint8Array) => writeFileSync(server().disk(`${day.iso}.csv`), content);

  it.each([
    ['plain', csv],
    ['in gzip', gzipSync(csv)],
  ])('is the same: %s', async (_, content) => {
    lay(content);
    expect(await takeSample(settings())).toEqual(sampledCsv);
    await proxy.clientsGone();
  });

  it('reads only the beginning and closes the connection', async () => {
    lay(longCsv);
    expect((await takeSample(settings())).records).toHaveLength(500);
    await proxy.clientsGone();
    expect(proxy.happened.bytesToClient).toBeLessThan(longCsv.length / 2);
  });

  it('fails like reading the day when there is no file or another host key', async () => {
    const missing = await failuresOf(settings());
    expect(missing.ofSample).toMatchObject({ name: 'SourceError', fault: 'missing' });
    expect(missing.ofSample).toEqual(missing.ofSource);
    const refused = await failuresOf(settings({ hostKey: `SHA256:${'A'.repeat(43)}` }));
    expect(refused.ofSample).toMatchObject({ name: 'SourceError', fault: 'login-refused' });
    expect(refused.ofSample).toEqual(refused.ofSource);
  });

  it('stops when aborted while the server does not answer', async () => {
    lay(csv);
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    const isAsked = new Promise<void>((resolve) => {
      proxy.beforePassing((to) => {
        if (to !== 'client') return;
        proxy.blackHole();
        resolve();
      });
    });
    const outcome = takeSample(settings(), stopping.signal).catch((error: unknown) => error);
    await isAsked;
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await proxy.clientsGone();
  });
});
