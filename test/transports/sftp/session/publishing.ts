import { chmodSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { denied, retryable, type SessionTrial } from './trial.js';

/** Publishing and removing. */
export function describePublishing({ usual, newFolder, put, onDisk, disk }: SessionTrial): void {
  describe('publishing', () => {
    const whole = 'new content';
    const gone = retryable('source-missing');

    it.each<[string, Readonly<Record<string, string>>, object | undefined, object, number?]>([
      ['replaces what is there', { 'x.tmp': whole, 'x.csv': 'old' }, undefined, { 'x.csv': whole }],
      ['succeeds when it has already happened', { 'x.csv': whole }, undefined, { 'x.csv': whole }],
      ['fails when the source is gone and nothing is there', {}, gone, {}],
      [
        'fails when the source is gone and another file is there',
        { 'x.csv': 'old' },
        gone,
        { 'x.csv': 'old' },
      ],
      [
        'never leaves a partial file under the final name',
        { 'x.tmp': 'new con', 'x.csv': 'old' },
        retryable('short-upload'),
        { 'x.tmp': 'new con', 'x.csv': 'old' },
      ],
      [
        'changes nothing where renaming is denied',
        { 'x.tmp': whole, 'x.csv': 'old' },
        denied,
        { 'x.tmp': whole, 'x.csv': 'old' },
        0o555,
      ],
    ])('%s', async (_what, before, outcome, after, mode = 0o755) => {
      const folder = newFolder();
      for (const [name, content] of Object.entries(before)) put(`${folder}/${name}`, content);
      chmodSync(disk(folder), mode);
      const publishing = (await usual()).publish(`${folder}/x.tmp`, `${folder}/x.csv`, whole.length);
      const failure = await publishing.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).toEqual(outcome);
      const left = readdirSync(disk(folder)).map((name) => [name, onDisk(`${folder}/${name}`).toString()]);
      expect(Object.fromEntries(left)).toEqual(after);
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
