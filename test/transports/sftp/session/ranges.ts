import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { retryable } from './outcomes.js';
import type { SessionTrial } from './trial.js';

/** Reading parts of a file. */
export function describeReadingRanges({ usual, newFolder, put }: SessionTrial): void {
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
