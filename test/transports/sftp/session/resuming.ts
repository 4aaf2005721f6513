import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.js';
import { limit, retryable, type SessionTrial } from './trial.js';

/** Resuming interrupted downloads. */
export function describeResuming({
  connect,
  usual,
  local,
  newFolder,
  put,
  disk,
  server,
}: SessionTrial): void {
  const target = () => join(local, `resumed-${randomBytes(4).toString('hex')}`);
  const partsOf = (path: string) =>
    readdirSync(local).filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.part'));

  describe('resuming a download', () => {
    /** More than may be in flight when the connection is lost. */
    const size = 24_000_000;
    let proxy: TcpProxy;
    beforeEach(async () => {
      proxy = await startTcpProxy(server().port);
    });
    afterEach(() => proxy.stop());

    /** Downloads at least this much, then loses the connection. */
    async function cutOff(path: string, to: string, bytes: number): Promise<number> {
      let done = 0;
      const onProgress = (bytesDone: number) => {
        done = bytesDone;
        if (bytesDone >= bytes) proxy.cutAll();
      };
      const session = await connect({ port: proxy.port });
      const download = session.download(path, to, { limit, resumes: true, onProgress });
      await expect(download).rejects.toEqual(retryable('connection-lost'));
      return done;
    }

    it('requests only what has not arrived yet', async () => {
      const path = `${newFolder()}/x.csv`;
      const content = randomBytes(size);
      put(path, content);
      const to = target();
      const had = await cutOff(path, to, 5_000_000);
      expect([existsSync(to), partsOf(to).length]).toEqual([false, 1]);

      const before = proxy.happened.bytesToClient;
      const steps: number[] = [];
      const session = await connect({ port: proxy.port });
      const found = await session.download(path, to, {
        limit,
        resumes: true,
        onProgress: (done) => steps.push(done),
      });

      expect(readFileSync(to).equals(content)).toBe(true);
      expect(statSync(to).mode & 0o777).toBe(0o600);
      expect(found).toMatchObject({ name: 'x.csv', size: content.length });
      expect(Math.min(...steps)).toBeGreaterThan(had);
      expect(steps.at(-1)).toBe(content.length);
      // A little more, for the handshake and packet headers.
      expect(proxy.happened.bytesToClient - before).toBeLessThan(content.length - had + 200_000);
      expect(partsOf(to)).toEqual([]);
    });

    it.each([
      ['another size', (content: Buffer) => Buffer.concat([content, randomBytes(1_000)]), 1_000],
      ['another time', (content: Buffer) => randomBytes(content.length), 2_000],
    ])('starts over where the file has %s now', async (_what, change, seconds) => {
      const path = `${newFolder()}/x.csv`;
      const content = randomBytes(size);
      put(path, content);
      utimesSync(disk(path), 1_000, 1_000);
      const to = target();
      await cutOff(path, to, 1_500_000);
      const other = change(content);
      put(path, other);
      utimesSync(disk(path), seconds, seconds);

      await (await usual()).download(path, to, { limit, resumes: true });

      expect(readFileSync(to).equals(other)).toBe(true);
      expect(partsOf(to)).toEqual([]);
    });

    it('keeps nothing of a file that changes during the download', async () => {
      const path = `${newFolder()}/x.csv`;
      put(path, randomBytes(size));
      const to = target();
      const onProgress = () => truncateSync(disk(path), 100);
      const download = (await usual()).download(path, to, { limit, resumes: true, onProgress });
      await expect(download).rejects.toEqual(retryable('changed-while-reading'));
      expect([existsSync(to), partsOf(to)]).toEqual([false, []]);
    });
  });
}
