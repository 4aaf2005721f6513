import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limit, retryable, type SessionTrial } from './trial.js';

/** Downloads are complete or absent; parts of a file can be read. */
export function describeDownloading({ connect, usual, local, newFolder, put, disk }: SessionTrial): void {
  describe('downloading', () => {
    it.each([
      ['an empty file', 0],
      ['a file of one byte', 1],
      ['a file of 5 MB', 5_000_003],
    ])('downloads %s unchanged, readable by its owner only', async (_what, size) => {
      const folder = newFolder();
      const content = randomBytes(size);
      put(`${folder}/ré sult.csv`, content);
      const to = join(local, `home-${randomBytes(4).toString('hex')}`);

      const found = await (await usual()).download(`${folder}/ré sult.csv`, to, { limit });

      expect(readFileSync(to).equals(content)).toBe(true);
      expect(statSync(to).mode & 0o777).toBe(0o600);
      expect(existsSync(`${to}.part`)).toBe(false);
      expect(found).toMatchObject({ name: 'ré sult.csv', size });
    });

    it('hands on the bytes in order while they arrive', async () => {
      const folder = newFolder();
      const content = randomBytes(3_000_001);
      put(`${folder}/x`, content);
      const to = join(local, 'handed-on');
      const received: Buffer[] = [];
      await (await usual()).download(`${folder}/x`, to, {
        limit,
        async onBytes(bytes) {
          expect(existsSync(to)).toBe(false);
          const copied = Buffer.from(bytes);
          await new Promise(setImmediate);
          // They are valid until this has settled.
          expect(copied.equals(bytes)).toBe(true);
          received.push(copied);
        },
      });
      expect(received.length).toBeGreaterThan(1);
      expect(Buffer.concat(received).equals(content)).toBe(true);
      expect(readFileSync(to).equals(content)).toBe(true);
    });

    it('fails with the error of the receiver of the bytes, and leaves nothing', async () => {
      const folder = newFolder();
      put(`${folder}/x`, randomBytes(3_000_000));
      const to = join(local, 'refused');
      const failure = new Error('the ledger is gone');
      const session = await connect();
      await expect(
        session.download(`${folder}/x`, to, { limit, onBytes: () => Promise.reject(failure) }),
      ).rejects.toBe(failure);
      expect([to, `${to}.part`].filter(existsSync)).toEqual([]);
    });

    it.each([
      ['grows', 'more'],
      ['becomes shorter', 'less'],
      ['is written anew, as long as before', 'touched'],
    ])('leaves nothing of a file that %s meanwhile', async (_what, change) => {
      const folder = newFolder();
      const content = randomBytes(4_000_000);
      put(`${folder}/x`, content);
      utimesSync(disk(`${folder}/x`), 1_000, 1_000);
      const to = join(local, `changing-${change}`);
      let changed = false;
      const onProgress = () => {
        if (changed) return;
        changed = true;
        if (change === 'more') put(`${folder}/x`, Buffer.concat([content, randomBytes(10)]));
        if (change === 'less') put(`${folder}/x`, content.subarray(0, 100));
        if (change === 'touched') put(`${folder}/x`, randomBytes(4_000_000));
        // Only the size or only the time may reveal the change.
        else utimesSync(disk(`${folder}/x`), 1_000, 1_000);
      };

      const download = (await usual()).download(`${folder}/x`, to, { limit, onProgress });

      await expect(download).rejects.toEqual(retryable('changed-while-reading'));
      expect(changed).toBe(true);
      expect([existsSync(to), existsSync(`${to}.part`)]).toEqual([false, false]);
    });

    it('fails when there is no such file, and writes none', async () => {
      const to = join(local, 'none');
      await expect((await usual()).download('absent.csv', to, { limit })).rejects.toEqual(
        retryable('no-such-file'),
      );
      expect(existsSync(to)).toBe(false);
    });
  });

  describe('reading a range', () => {
    it.each([
      ['nothing', 5, 5],
      ['the first byte', 0, 1],
      ['the last byte', 3_000_000, 3_000_001],
      ['the middle', 1_000_003, 2_500_007],
      ['all of it', 0, 3_000_001],
    ])('returns %s, byte for byte', async (_what, from, to) => {
      const folder = newFolder();
      const content = randomBytes(3_000_001);
      put(`${folder}/x`, content);
      const bytes = await (await usual()).readRange(`${folder}/x`, { from, to });
      expect(Buffer.compare(bytes, content.subarray(from, to))).toBe(0);
    });

    it('fails where the file ends earlier or does not exist', async () => {
      const folder = newFolder();
      put(`${folder}/x`, randomBytes(100));
      const session = await usual();
      await expect(session.readRange(`${folder}/x`, { from: 50, to: 101 })).rejects.toEqual(
        retryable('changed-while-reading'),
      );
      await expect(session.readRange(`${folder}/y`, { from: 0, to: 1 })).rejects.toEqual(
        retryable('no-such-file'),
      );
    });
  });
}
