import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { ClientChannel } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSftp } from '../../src/sandbox/sftp/sftp-server.js';
import { patienceMs } from '../support/patience.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { type RawClient, type ServedSftp, serveSftp } from './served-sftp.js';

describe("the sandbox's SFTP server", () => {
  let sftp: ServedSftp;
  beforeEach(async () => {
    sftp = await serveSftp();
  });
  afterEach(() => sftp.stop());

  /** Files of the served folder that this process has open. */
  function openFiles(): string[] {
    return readdirSync('/proc/self/fd').flatMap((number) => {
      try {
        const target = readlinkSync(`/proc/self/fd/${number}`);
        return target.startsWith(sftp.disk('')) ? [target] : [];
      } catch {
        return [];
      }
    });
  }

  function write(
    { ask, files }: RawClient,
    handle: Buffer,
    data: Buffer,
    position: number,
  ): Promise<unknown> {
    return ask((answer) => files.write(handle, data, 0, data.length, position, answer));
  }

  const openForWriting = ({ ask, files }: RawClient, path: string) =>
    ask<Buffer>((answer) => files.open(path, 'w', answer));

  it('listens on this machine only', () => {
    expect(sftp.server.host).toBe('127.0.0.1');
  });

  it('serves several clients, and several channels of one client, at once', async () => {
    const [one, other] = [await sftp.connect(), await sftp.connect()];
    const second = await one.ask<RawClient['files']>((answer) => one.client.sftp(answer));
    const clients: readonly RawClient[] = [one, other, { ...one, files: second }];
    const contents = clients.map(() => randomBytes(1_000_000));

    await Promise.all(
      clients.map(async (client, index) => {
        const handle = await openForWriting(client, `file ${index}`);
        const data = contents[index] ?? Buffer.alloc(0);
        for (let position = 0; position < data.length; position += 20_000) {
          await write(client, handle, data.subarray(position, position + 20_000), position);
        }
        await client.ask((answer) => client.files.close(handle, answer));
      }),
    );

    for (const [index, content] of contents.entries()) {
      expect(readFileSync(sftp.disk(`file ${index}`)).equals(content)).toBe(true);
    }
    expect(sftp.told.filter((line) => line.includes('received'))).toHaveLength(3);
  });

  it('closes the files of a client that disconnects in mid-upload, without reporting them as received', async () => {
    const proxy = await startTcpProxy(sftp.server.port);
    const client = await sftp.connect({ port: proxy.port });
    const other = await sftp.connect();
    const handle = await openForWriting(client, 'x');
    await write(client, handle, Buffer.from('the first part'), 0);
    await client.ask((answer) => client.files.opendir('/', answer));
    expect(openFiles()).toEqual([sftp.disk('x')]);

    proxy.resetAfter(0);
    const lost = write(client, handle, randomBytes(500_000), 14);
    await expect(lost).rejects.toThrow();

    await vi.waitFor(() => expect(openFiles()).toEqual([]), { timeout: patienceMs });
    expect(proxy.happened.resets).toBe(1);
    expect(sftp.onDisk('x')).toMatch(/^the first part/);
    expect(sftp.told.filter((line) => line.includes('received'))).toEqual([]);
    await expect(openForWriting(other, 'y')).resolves.toEqual(expect.any(Buffer));
    await proxy.stop();
  });

  it('closes the files of a client that ends its session without closing them', async () => {
    const client = await sftp.connect();
    await openForWriting(client, 'x');
    client.client.end();
    await vi.waitFor(() => expect(openFiles()).toEqual([]), { timeout: patienceMs });
    expect(sftp.told).toEqual(['SFTP: logged in']);
  });

  it('closes the files of a channel that ends while its connection stays open', async () => {
    const client = await sftp.connect();
    await openForWriting(client, 'x');
    client.files.end();
    await vi.waitFor(() => expect(openFiles()).toEqual([]), { timeout: patienceMs });
    const files = await client.ask<RawClient['files']>((answer) => client.client.sftp(answer));
    await expect(openForWriting({ ...client, files }, 'y')).resolves.toEqual(expect.any(Buffer));
  });

  it.each([
    ['a packet that is too long', [0x7f, 0xff, 0xff, 0xff, 1]],
    ['a request before the greeting', [0, 0, 0, 5, 3, 0, 0, 0, 1]],
    ['a request that does not exist', [0, 0, 0, 5, 1, 0, 0, 0, 3, 0, 0, 0, 1, 99]],
  ])('ends only the channel that sends %s', async (_what, bytes) => {
    const [one, other] = [await sftp.connect(), await sftp.connect()];
    const bad = await one.ask<ClientChannel>((answer) => one.client.subsys('sftp', answer));
    const ended = once(bad.resume(), 'close');

    bad.write(Buffer.from(bytes));

    await ended;
    await expect(openForWriting(one, 'x')).resolves.toEqual(expect.any(Buffer));
    await expect(openForWriting(other, 'y')).resolves.toEqual(expect.any(Buffer));
  });

  it.each([
    ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a greeting and noise', `SSH-2.0-noise\r\n${'\x00\x00\x10\x00noise'.repeat(1_000)}`],
  ])('continues after a client that speaks %s', async (_what, text) => {
    const socket = connect(sftp.server.port, '127.0.0.1', () => socket.write(text));
    socket.on('error', () => {}).resume();
    await once(socket, 'close');
    await expect(sftp.connect()).resolves.toBeDefined();
  });

  it('ends all sessions when closed, including those without a greeting, and can be closed again', async () => {
    const clients = [await sftp.connect(), await sftp.connect()];
    for (const [index, client] of clients.entries()) await openForWriting(client, `file ${index}`);
    const silent = connect(sftp.server.port, '127.0.0.1');
    await once(silent, 'data');
    const ended = Promise.all(
      [silent, ...clients.map(({ client }) => client)].map((each) => once(each, 'close')),
    );

    await Promise.all([sftp.server.close(), sftp.server.close()]);

    expect(openFiles()).toEqual([]);
    await ended;
    await sftp.server.close();
    await expect(sftp.connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('names a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const options = { root: sftp.disk(''), hostKey: readFileSync(sftp.hostKeyFile, 'utf8') };
    const start = startSftp({ port, ...options, login: sftp.login, tell: () => {} });
    await expect(start).rejects.toMatchObject({ code: 'EADDRINUSE', port });
    other.close();
  });

  it('does not start without a private key', async () => {
    const options = {
      port: 0,
      root: sftp.disk(''),
      hostKey: 'no key',
      login: sftp.login,
      tell: () => {},
    };
    await expect(startSftp(options)).rejects.toThrow('not a private key in OpenSSH format');
  });

  it('creates the folder that it serves', async () => {
    const root = join(sftp.folder, 'not', 'yet');
    const hostKey = readFileSync(sftp.hostKeyFile, 'utf8');
    const server = await startSftp({
      port: 0,
      root,
      hostKey,
      login: sftp.login,
      tell: () => {},
    });
    writeFileSync(join(root, 'x'), '');
    await server.close();
  });
});
