import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listMovements, readResults, replaceRows, writeResults } from '../../bench/harness/results.js';
import { results, row } from './bench-results.js';

async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe('the results of a benchmark', () => {
  it('are read back as they were written, even to a new folder', async () => {
    const path = join(await openFolder(), 'of-today', 'latest.json');
    const { other, ratio, isReached, ...alone } = row('show', 1, 2, { reach: {} });
    const taken = results([row('file-run', 2, 4), alone], {
      notTried: [{ name: 'another-program', obstacle: 'needs another-program' }],
    });

    await writeResults(path, taken);

    expect(await readResults(path)).toEqual(taken);
  });

  it('are refused, with the file name, when a file has other content', async () => {
    const path = join(await openFolder(), 'other.json');

    await writeFile(path, '{"rows": 3}');
    await expect(readResults(path)).rejects.toThrow(`${path} holds no results of this benchmark`);
    await writeFile(path, 'rows');
    await expect(readResults(path)).rejects.toThrow(`${path} holds no JSON`);
  });

  it('replace rows that were measured again', () => {
    const before = results([row('first', 1, 2), row('second', 1, 2), row('gone', 1, 2)], {
      notTried: [{ name: 'third', obstacle: 'needs another-program' }],
    });
    const again = results([row('third', 3, 4), row('first', 5, 6)]);

    const both = replaceRows(before, again, ['first', 'second', 'third']);

    expect(both.rows.map(({ name, ours }) => [name, ours.median])).toEqual([
      ['first', 5],
      ['second', 1],
      ['third', 3],
    ]);
    expect(both.notTried).toEqual([]);
  });

  it('show how the medians changed since earlier results', () => {
    const before = results([row('file-run', 4, 8, { commit: 'old' })]);
    const now = results([row('file-run', 3, 10, { commit: 'new' }), row('show', 1, 1)]);

    expect(listMovements(before, now)).toEqual([
      'file-run (old → new): ours 4.00 s → 3.00 s (−25.0%), the other 8.00 s → 10.0 s (+25.0%), ratio 0.500 → 0.300',
      'show: nothing to compare with',
    ]);
  });
});
