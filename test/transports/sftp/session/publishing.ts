import { chmodSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { denied, retryable } from './outcomes.js';
import type { SessionTrial } from './trial.js';

/** Publishing and removing. */
export function describePublishing({ usual, newFolder, put, onDisk, disk }: SessionTrial): void {
  describe('publishing', () => {
    it('replaces what is there', async () => {
      const folder = newFolder();
      put(`${folder}/x.tmp`, 'new content');
      put(`${folder}/20112026.csv`, 'old');
      await (await usual()).publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, 11);
      expect(readdirSync(disk(folder))).toEqual(['20112026.csv']);
      expect(onDisk(`${folder}/20112026.csv`).toString()).toBe('new content');
    });

    it('succeeds when it has already happened', async () => {
      const folder = newFolder();
      put(`${folder}/20112026.csv`, 'new content');
      await (await usual()).publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, 11);
      expect(onDisk(`${folder}/20112026.csv`).toString()).toBe('new content');
    });

    it.each([
      ['nothing is there', undefined],
      ['another file is there', 'old'],
    ])('fails when the source is gone and %s', async (_what, present) => {
      const folder = newFolder();
      if (present !== undefined) put(`${folder}/20112026.csv`, present);
      await expect((await usual()).publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, 11)).rejects.toEqual(
        retryable('source-missing'),
      );
    });

    it('never leaves a partial file under the final name', async () => {
      const folder = newFolder();
      put(`${folder}/x.tmp`, 'new con');
      put(`${folder}/20112026.csv`, 'old');
      await expect((await usual()).publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, 11)).rejects.toEqual(
        retryable('short-upload'),
      );
      expect(onDisk(`${folder}/20112026.csv`).toString()).toBe('old');
    });

    it('changes nothing where renaming is denied', async () => {
      const folder = newFolder();
      put(`${folder}/x.tmp`, 'new content');
      put(`${folder}/20112026.csv`, 'old');
      chmodSync(disk(folder), 0o555);
      await expect((await usual()).publish(`${folder}/x.tmp`, `${folder}/20112026.csv`, 11)).rejects.toEqual(
        denied,
      );
      expect(onDisk(`${folder}/20112026.csv`).toString()).toBe('old');
      expect(onDisk(`${folder}/x.tmp`).toString()).toBe('new content');
    });
  });

  describe('removing', () => {
    it('removes a file, and reports when there is none', async () => {
      const folder = newFolder();
      put(`${folder}/x y.csv`, 'x');
      const session = await usual();
      expect(await session.remove(`${folder}/x y.csv`)).toBe('removed');
      expect(readdirSync(disk(folder))).toEqual([]);
      expect(await session.remove(`${folder}/x y.csv`)).toBe('absent');
    });

    it('reports when it is denied', async () => {
      const folder = newFolder();
      put(`${folder}/x`, 'x');
      chmodSync(disk(folder), 0o555);
      expect(await (await usual()).remove(`${folder}/x`)).toBe('denied');
      expect(onDisk(`${folder}/x`).toString()).toBe('x');
    });
  });
}
