import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClosableSftpServer, createSftpServer } from '../../../src/transports/sftp/server.js';
import { patienceMs } from '../../support/patience.js';
import { openSsh } from '../../support/sftp-programs.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { limit, prepareTrial, retryable } from './session/trial.js';

describe('a connection that is kept between sessions', () => {
  const { server, localFile, newFolder, onDisk } = prepareTrial(openSsh);
  let proxy: TcpProxy;
  let now: number;
  const opened: ClosableSftpServer[] = [];

  beforeEach(async () => {
    proxy = await startTcpProxy(server().port);
    now = 1_000_000;
  });
  afterEach(async () => {
    for (const sftp of opened.splice(0)) await sftp.close();
    await proxy.stop();
  });

  function openKeeping({ idleMs = 60_000 } = {}): ClosableSftpServer {
    const { login, root, fingerprints } = server();
    const sftp = createSftpServer({
      host: '127.0.0.1',
      port: proxy.port,
      ...login,
      root,
      hostKeys: fingerprints,
      keep: { idleMs, clock: () => now },
    });
    opened.push(sftp);
    return sftp;
  }
  const connect = (sftp: ClosableSftpServer, signal = new AbortController().signal) =>
    sftp.connect({ signal });

  /** A session that does one stat and is closed. */
  async function use(sftp: ClosableSftpServer): Promise<void> {
    const session = await connect(sftp);
    expect(await session.list('absent')).toEqual([]);
    await session.close();
  }

  it('serves consecutive sessions', async () => {
    const sftp = openKeeping();
    const folder = newFolder();
    const first = await connect(sftp);
    await first.upload(localFile('bookings'), `${folder}/x.tmp`);
    await first.close();
    const second = await connect(sftp);
    await second.publish(`${folder}/x.tmp`, `${folder}/x.csv`, 8);
    await second.close();
    await use(sftp);
    expect(onDisk(`${folder}/x.csv`).toString()).toBe('bookings');
    expect(proxy.happened.connections).toBe(1);
  });

  it('cannot be used by a closed session', async () => {
    const sftp = openKeeping();
    const first = await connect(sftp);
    await first.close();
    const second = await connect(sftp);
    await first.close();
    await expect(first.stat('x')).rejects.toEqual(retryable('connection-lost'));
    expect(await second.stat('x')).toBeUndefined();
  });

  it('is not shared by concurrent sessions, and only one of theirs is kept', async () => {
    const sftp = openKeeping();
    const sessions = [await connect(sftp), await connect(sftp)];
    expect(proxy.happened.connections).toBe(2);
    for (const session of sessions) await session.close();
    await Promise.all([use(sftp), use(sftp)]);
    expect(proxy.happened.connections).toBe(3);
  });

  it('obeys only the signal of the session that has it', async () => {
    const sftp = openKeeping();
    const [earlier, later] = [new AbortController(), new AbortController()];
    await (await connect(sftp, earlier.signal)).close();
    const session = await connect(sftp, later.signal);
    earlier.abort(new Error('not for us'));
    expect(await session.stat('x')).toBeUndefined();

    const reason = new Error('asked to stop');
    const gone = proxy.clientsGone();
    const upload = session.upload(localFile(randomBytes(30_000_000)), `${newFolder()}/x`, {
      onProgress: () => later.abort(reason),
    });
    await expect(upload).rejects.toBe(reason);
    await gone;
    expect(proxy.happened.connections).toBe(1);
  });

  it('rejects with the reason of an abort while it is being tested', async () => {
    const sftp = openKeeping();
    await use(sftp);
    const stop = new AbortController();
    const reason = new Error('asked to stop');
    proxy.blackHole();
    const connecting = connect(sftp, stop.signal);
    await vi.waitUntil(() => proxy.happened.swallowedChunks > 0, { timeout: patienceMs });
    stop.abort(reason);
    await expect(connecting).rejects.toBe(reason);
    expect(proxy.happened.connections).toBe(1);
  });

  it('is not reused after a failed operation', async () => {
    const sftp = openKeeping();
    const session = await connect(sftp);
    await expect(session.download('absent', localFile(''), { limit })).rejects.toMatchObject({
      name: 'SftpError',
    });
    const gone = proxy.clientsGone();
    await session.close();
    await gone;
    await use(sftp);
    expect(proxy.happened.connections).toBe(2);
  });

  it('is not reused after an unfinished operation', async () => {
    const sftp = openKeeping();
    const session = await connect(sftp);
    const left = expect(
      session.upload(localFile(randomBytes(30_000_000)), `${newFolder()}/x`),
    ).rejects.toEqual(retryable('connection-lost'));
    await session.close();
    await left;
    await use(sftp);
    expect(proxy.happened.connections).toBe(2);
  });

  it('is replaced when it no longer answers, although nobody ended it', async () => {
    const sftp = openKeeping();
    await use(sftp);
    expect(await server().freezeSessions()).toBeGreaterThan(0);
    await use(sftp);
    expect(proxy.happened.connections).toBe(2);
  });

  it('is closed after an idle period', async () => {
    const sftp = openKeeping({ idleMs: 20 });
    const session = await connect(sftp);
    const gone = proxy.clientsGone();
    await session.close();
    await gone;
  });

  it('is replaced when the process was frozen past the idle period', async () => {
    const sftp = openKeeping();
    await use(sftp);
    now += 60_000;
    await use(sftp);
    expect(proxy.happened.connections).toBe(2);
  });

  it('is closed with the server, and then none is kept', async () => {
    const sftp = openKeeping();
    const still = await connect(sftp);
    await use(sftp);
    const gone = proxy.clientsGone();
    await Promise.all([sftp.close(), sftp.close()]);
    await still.close();
    await gone;
    await use(sftp);
    await use(sftp);
    expect(proxy.happened.connections).toBe(4);
  });
});
