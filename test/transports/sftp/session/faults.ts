import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SftpSession } from '../../../../src/transports/sftp/sftp.js';
import { patienceMs } from '../../../support/patience.js';
import { startTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.js';
import { limit, retryable, type SessionTrial } from './trial.js';

/** The contract of a session when connection, server or client fail. */
export function describeFaults({
  connect,
  local,
  localFile,
  newFolder,
  put,
  onDisk,
  disk,
  server,
  kind,
}: SessionTrial): void {
  describe('trusting host keys', () => {
    it('connects with any key of a list, with or without a trailing =', async () => {
      const stranger = `SHA256:${'A'.repeat(43)}`;
      const session = await connect({ hostKeys: [stranger, `${server().fingerprints[0]}=`] });
      expect(await session.list('absent')).toEqual([]);
    });

    it('refuses a key that is not pinned, and names it', async () => {
      const refused = connect({ hostKeys: [`SHA256:${'A'.repeat(43)}`] });
      await expect(refused).rejects.toMatchObject({
        kind: 'fatal',
        code: 'host-key-refused',
        message: expect.stringContaining(`${server().fingerprints[0]} (ssh-ed25519)`),
      });
    });
  });

  describe('when connection or server fails', () => {
    let proxy: TcpProxy;
    beforeEach(async () => {
      proxy = await startTcpProxy(server().port);
    });
    afterEach(() => proxy.stop());

    it('rejects after too long without an answer, and gives up the connection', async () => {
      const folder = newFolder();
      const session = await connect({ noProgressMs: 1_000, port: proxy.port });
      await session.list(folder);
      expect(await server().freezeSessions()).toBeGreaterThan(0);
      const gone = proxy.clientsGone();

      await expect(session.upload(localFile(randomBytes(5_000_000)), `${folder}/x`)).rejects.toEqual(
        retryable('no-progress'),
      );

      await gone;
      await expect(session.list(folder)).rejects.toEqual(retryable('connection-lost'));
      await expect((await connect()).list(folder)).resolves.toEqual(expect.any(Array));
    });

    it.each([
      ['list', (session: SftpSession) => session.list('')],
      ['stat', (session: SftpSession) => session.stat('x')],
      ['makeFolder', (session: SftpSession) => session.makeFolder('x/y')],
      ['upload', (session: SftpSession) => session.upload(localFile('x'), 'x')],
      ['download', (session: SftpSession) => session.download('x', join(local, 'x'), { limit })],
      ['publish', (session: SftpSession) => session.publish('x', 'y', 1)],
      ['remove', (session: SftpSession) => session.remove('x')],
    ])('%s has the deadline, too', async (_name, operation) => {
      const session = await connect({ noProgressMs: 100, port: proxy.port });
      proxy.blackHole();
      await expect(operation(session)).rejects.toEqual(retryable('no-progress'));
      expect(proxy.happened.swallowedChunks).toBeGreaterThan(0);
    });

    it('gives up an idle connection when its keep-alives are not answered', async () => {
      const session = await connect({ port: proxy.port, keepAliveSeconds: 0.05 });
      const gone = proxy.clientsGone();
      proxy.blackHole();
      await gone;
      await expect(session.list('')).rejects.toEqual(retryable('connection-lost'));
    });

    it.each([1_000, 300_000])('survives a reset after %d bytes of an upload', async (bytes) => {
      const folder = newFolder();
      const content = randomBytes(3_000_000);
      put(`${folder}/20112026.csv`, 'old');
      const session = await connect({ port: proxy.port });
      proxy.resetAfter(bytes);

      const upload = session.upload(localFile(content), `${folder}/x.tmp`);

      await expect(upload).rejects.toEqual(retryable('connection-lost'));
      expect(proxy.happened.resets).toBe(1);
      expect(onDisk(`${folder}/20112026.csv`).toString()).toBe('old');
      proxy.heal();
      const later = await connect({ port: proxy.port });
      await later.upload(localFile(content), `${folder}/x.tmp`);
      await later.publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, content.length);
      expect(onDisk(`${folder}/20112026.csv`).equals(content)).toBe(true);
    });

    it('recognises a rename whose answer was lost', async () => {
      const folder = newFolder();
      const names = [`${folder}/x.tmp`, `${folder}/20112026.csv`] as const;

      // Lets one more answer through each time, until the lost one is that of the rename.
      // (If none was lost, the machine was slow: repeat. If all came, several came together: begin again.)
      let answers = 0;
      let outcome: unknown;
      do {
        const lost = proxy.happened.swallowedChunks;
        put(names[0], 'new content');
        put(names[1], 'old');
        const session = await connect({ port: proxy.port, noProgressMs: 200 });
        proxy.dropAnswersAfter(answers);
        outcome = await session.publish(...names, 11).then(
          () => undefined,
          (error: unknown) => error,
        );
        proxy.heal();
        if (kind.replacesInOneStep) expect(existsSync(disk(names[1]))).toBe(true);
        if (outcome === undefined) answers = 0;
        else expect(outcome).toEqual(retryable('no-progress'));
        if (proxy.happened.swallowedChunks > lost) answers += 1;
      } while (outcome === undefined || existsSync(disk(names[0])));
      expect(onDisk(names[1]).toString()).toBe('new content');

      await (await connect({ port: proxy.port })).publish(...names, 11);
      expect(readdirSync(disk(folder))).toEqual(['20112026.csv']);
      expect(onDisk(names[1]).toString()).toBe('new content');
    });

    it('rejects with the reason of an abort in mid-upload, and stops', async () => {
      const folder = newFolder();
      const stop = new AbortController();
      const reason = new Error('asked to stop');
      const session = await connect({ port: proxy.port }, stop.signal);
      const gone = proxy.clientsGone();
      let done = 0;
      const upload = session.upload(localFile(randomBytes(30_000_000)), `${folder}/x.tmp`, {
        onProgress: (bytes) => {
          done = bytes;
          stop.abort(reason);
        },
      });
      await expect(upload).rejects.toBe(reason);
      expect(done).toBeGreaterThan(0);
      await gone;
      await expect(session.list(folder)).rejects.toBe(reason);
    });

    it('rejects with the reason of an abort while it connects', async () => {
      const stop = new AbortController();
      const reason = new Error('asked to stop');
      proxy.blackHole();
      const connecting = connect({ port: proxy.port }, stop.signal);
      await vi.waitUntil(() => proxy.happened.swallowedChunks > 0, { timeout: patienceMs });
      stop.abort(reason);
      await expect(connecting).rejects.toBe(reason);
      await expect(connect({}, stop.signal)).rejects.toBe(reason);
    });

    it('gives up on a server that never sends its greeting', async () => {
      proxy.blackHole();
      await expect(connect({ port: proxy.port, connectTimeoutMs: 100 })).rejects.toEqual(
        retryable('connect-timeout'),
      );
    });

    it.each([10, 1_000])('is retryable after a reset %d bytes into the handshake', async (bytes) => {
      proxy.resetAfter(bytes);
      await expect(connect({ port: proxy.port })).rejects.toEqual(retryable('connection-lost'));
      expect(proxy.happened.resets).toBe(1);
    });

    it('closes in bounded time, even twice, whatever the state of the server', async () => {
      const session = await connect({ port: proxy.port });
      proxy.blackHole();
      const pending = expect(session.stat('x')).rejects.toEqual(retryable('connection-lost'));
      await Promise.all([session.close(), session.close()]);
      await pending;
      await session.close();
      await expect(session.list('')).rejects.toEqual(retryable('connection-lost'));
    });
  });
}
