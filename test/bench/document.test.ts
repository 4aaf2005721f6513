import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { comparisons } from '../../bench/comparisons/index.js';
import { renderFigures } from '../../bench/harness/document.js';
import { results, row } from './bench-results.js';

it('docs/performance.md names comparisons that there are', async () => {
  const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/^\| `([a-z0-9-]+)`/gm)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !comparisons.some((comparison) => comparison.name === name))).toEqual([]);
});

describe('the figures', () => {
  it('show the median with its range, the ratio, the target and whether it was reached', () => {
    const lines = renderFigures(results([row('file-run', 2, 4), row('slow', 5, 4)])).split('\n');

    expect(lines).toContain(
      '| `file-run` | work of file-run | a script | 2.00 s (2.00–2.00) | 4.00 (4.00–4.00) | 0.500 | ≤ 1 | yes | 200/– | 1.50/– | 1, 2 |',
    );
    expect(lines.find((line) => line.startsWith('| `slow`'))).toContain('| 1.250 | ≤ 1 | **no** |');
  });

  it('include rows without a target or without another side', () => {
    const { other, ratio, ...alone } = row('show', 0.1, 1, { reach: { ours: { atMost: 150, unit: 'ms' } } });
    const { isReached, ...further } = row('aimless', 2, 4, { reach: {} });
    const figures = renderFigures(results([alone, further]));

    expect(figures).toContain('| 0.10 s (0.10–0.10) | – | – | ours ≤ 150 ms | yes |');
    expect(figures).toContain('| 0.500 | – | – | 200/');
  });

  it('show machine, versions, commit, notes, and what could not run', () => {
    const obstacle = 'needs sftp: apt-get install openssh-client';
    const figures = renderFigures(
      results([row('file-run', 2, 4)], { notTried: [{ name: 'upload', obstacle }] }),
    );

    expect(figures).toContain('2 × Fast One, 8 GB, Linux 6, temporary files on ext4. node v20.19.0.');
    expect(figures).toContain('1. 1 round, 2026-11-21, commit 1234567.\n2. a note on file-run');
    expect(figures).toContain(`Not tried here:\n\n- \`upload\`: ${obstacle}`);
  });

  it('show each note once, however many rows have it', () => {
    const notes = ['a note on both'];
    const figures = renderFigures(results([row('one', 2, 4, { notes }), row('two', 2, 4, { notes })]));

    expect(figures.match(/a note on both/g)).toHaveLength(1);
    expect(figures.match(/\| 1, 2 \|$/gm)).toHaveLength(2);
  });

  it('of small inputs say so', () => {
    expect(renderFigures(results([]))).not.toContain('Measured with small inputs');
    expect(renderFigures(results([], { scale: 'quick' }))).toContain('Measured with small inputs');
  });
});
