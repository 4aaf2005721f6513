import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { mountSmallDisk, smallDiskNeeds } from '../../../support/machine.js';
import { sessionUser } from '../../../support/sftp-server.js';
import { denied, retryable, type SessionTrial } from './trial.js';

/** Uploads succeed only when complete. */
export function describeUploading({ usual, localFile, newFolder, onDisk }: SessionTrial): void {
  describe('uploading', () => {
    it.each([
      ['an empty file', 0],
      ['a file of one byte', 1],
      ['a file that is read back', 300_001],
      ['a file of 5 MB', 5_000_003],
    ])('uploads %s unchanged', async (_what, size) => {
      const folder = newFolder();
      const content = randomBytes(size);
      await (await usual()).upload(localFile(content), `${folder}/día uno.tmp`);
      expect(onDisk(`${folder}/día uno.tmp`).equals(content)).toBe(true);
    });

    it('reports progress in bytes, up to the total', async () => {
      const folder = newFolder();
      const steps: [number, number][] = [];
      await (await usual()).upload(localFile(randomBytes(2_000_000)), `${folder}/x`, {
        onProgress: (done, total) => steps.push([done, total]),
      });
      expect(steps.length).toBeGreaterThan(3);
      expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));
      expect(steps.at(-1)).toEqual([2_000_000, 2_000_000]);
    });

    it('is denied where the account may not write', async () => {
      const folder = newFolder(0o555);
      await expect((await usual()).upload(localFile('x'), `${folder}/x`)).rejects.toEqual(denied);
    });

    it('fails when the folder does not exist', async () => {
      await expect((await usual()).upload(localFile('x'), 'absent/x')).rejects.toEqual(
        retryable('no-such-file'),
      );
    });
  });
}

/** An upload that does not fit never succeeds. */
export function describeFullDisk({ usual, localFile, newFolder, onDisk, disk, kind }: SessionTrial): void {
  describe('uploading onto a full disk', () => {
    beforeEach(({ skip }) => skip(smallDiskNeeds !== undefined, smallDiskNeeds));

    it.each([3_000_000, 1_060_000])('never succeeds (%d bytes)', async (size) => {
      const folder = newFolder();
      mountSmallDisk(disk(folder), 1_024, sessionUser.uid);
      const sent = randomBytes(size);
      const failure = await (await usual())
        .upload(localFile(sent), `${folder}/x`)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'retryable' });
      const arrived = onDisk(`${folder}/x`);
      expect(arrived.equals(sent)).toBe(false);
      // Writes run in parallel: where the last one still fits and an earlier one fails, the file has its length and a hole.
      const unexplained = arrived.length < size ? 'short-upload' : 'server-failure';
      const codes = kind.reportsFreeSpace ? ['disk-full'] : ['disk-full', unexplained];
      expect(codes).toContain((failure as { code: string }).code);
    });
  });
}
