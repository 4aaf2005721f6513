import { expect, it } from 'vitest';
import { sortUnknown } from '../../src/review/unknown-folders.js';

const day = '2026-11-20';
const names = ['20112026.csv', 'manifest.json'];

it('folders of runs that the ledger does not know are ours or nobody’s, and those of other accounts are left out', () => {
  const folders = [
    { day, runId: 'known', account: 'ours', names },
    { day, runId: 'known-unmarked', names },
    { day, runId: 'lost', account: 'ours', names },
    { day, runId: 'purged', account: 'ours', names: ['manifest.json'] },
    { day, runId: 'empty', account: 'ours', names: [] },
    { day, runId: 'old', names },
    { day, runId: 'theirs', account: 'others', names },
  ];
  const known = new Set(['known', 'known-unmarked']);
  const { ours, unmarked } = sortUnknown(folders, { account: 'ours', known });
  expect(ours).toEqual([{ day, runId: 'lost', account: 'ours', names: ['20112026.csv'] }]);
  expect(unmarked).toEqual([{ day, runId: 'old', names: ['20112026.csv'] }]);
});
