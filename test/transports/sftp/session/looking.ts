import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { denied, type SessionTrial } from './trial.js';

/** Listing, stat and creating folders. */
export function describeLooking({ usual, newFolder, put, disk }: SessionTrial): void {
  describe('looking', () => {
    it('lists only the regular files of a folder, with size and time', async () => {
      const folder = newFolder();
      put(`${folder}/20112026.csv`, 'abc');
      put(`${folder}/übung 1 "ø".csv`, '');
      utimesSync(disk(`${folder}/20112026.csv`), 1_795_000_000, 1_795_000_000);
      mkdirSync(disk(`${folder}/below`));
      symlinkSync('below', disk(`${folder}/link`));
      const session = await usual();

      const found = await session.list(folder);

      expect(found.map((file) => file.name).sort()).toEqual(['20112026.csv', 'übung 1 "ø".csv']);
      expect(found).toContainEqual({ name: '20112026.csv', size: 3, modifiedAt: 1_795_000_000_000 });
    });

    it('lists more files than one answer contains', async () => {
      const folder = newFolder();
      const names = Array.from({ length: 400 }, (_, index) => `${'long'.repeat(20)}-${index}`);
      for (const file of names) put(`${folder}/${file}`, '');
      const found = await (await usual()).list(folder);
      expect(found.map((file) => file.name).sort()).toEqual(names.sort());
    });

    it('is denied for a folder that the account may not read', async () => {
      const folder = newFolder(0o000);
      await expect((await usual()).list(folder)).rejects.toEqual(denied);
    });

    it('returns size and time of a file, and nothing for a missing one', async () => {
      const folder = newFolder();
      put(`${folder}/a b.csv`, 'four');
      const session = await usual();
      expect(await session.stat(`${folder}/a b.csv`)).toEqual({
        name: 'a b.csv',
        size: 4,
        modifiedAt: Math.floor(statSync(disk(`${folder}/a b.csv`)).mtimeMs / 1_000) * 1_000,
      });
      expect(await session.stat(`${folder}/absent.csv`)).toBeUndefined();
      expect(await session.stat('absent/absent.csv')).toBeUndefined();
      expect(await session.stat(folder)).toBeUndefined();
    });
  });

  describe('creating folders', () => {
    it('creates a folder and its parents, and accepts an existing one', async () => {
      const folder = newFolder();
      const session = await usual();
      await session.makeFolder(`${folder}/VerifyMappings/112026`);
      await session.makeFolder(`${folder}/VerifyMappings/112026`);
      await session.makeFolder(`${folder}/VerifyMappings/12 ü`);
      expect(readdirSync(disk(`${folder}/VerifyMappings`)).sort()).toEqual(['112026', '12 ü']);
    });

    it('lets two sessions create the same folder at once', async () => {
      const folder = newFolder();
      const session = await usual();
      await Promise.all([session.makeFolder(`${folder}/a/b/c`), session.makeFolder(`${folder}/a/b/c`)]);
      expect(existsSync(disk(`${folder}/a/b/c`))).toBe(true);
    });

    it('is denied where the account may not write', async () => {
      const folder = newFolder(0o555);
      await expect((await usual()).makeFolder(`${folder}/x`)).rejects.toEqual(denied);
    });
  });
}
