import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../src/base/content.js';
import { archiveManifest } from '../../../src/review/file/archive-run.js';
import { at, claimStep, perform, retry } from '../../contracts/ledger/days.js';
import { attemptOf, blocksOf, day, prepareFileRun, readWhole } from './file-run.js';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const file = {
  rows: 5,
  bytes: 9,
  sha256: hash('as sent'),
  remotePath: 'VerifyMappings/112026/20112026.csv',
  result: {
    name: '20112026_Result.csv',
    size: 11,
    modifiedAt: 7,
    sha256: hash('as received'),
    rows: 4,
    isWhole: false,
  },
  verdicts: { affected: 1, unanswered: 1, unclear: 0, malformed: 0 },
};

describe('a manifest', () => {
  it('states what was sent and when, what came back, and the checksums of all archived files', async () => {
    const { attempt, parts, run } = await prepareArchive();
    await archiveManifest(attempt, file);
    const text = await readWhole(parts.archive.read(day.iso, run.id, 'manifest.json'));
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({
      tool: 'booked-hotel-review 9.9.9',
      day: '2026-11-20',
      runId: '20261120-k3f9xq7d',
      remotePath: 'VerifyMappings/112026/20112026.csv',
      rows: 5,
      counts: { read: 5, accepted: 5, duplicates: 0, rejected: 0 },
      result: { name: '20112026_Result.csv', rows: 4, isWhole: false },
      verdicts: { affected: 1, unanswered: 1, unclear: 0, malformed: 0 },
      calls: [
        {
          startedAt: new Date(at).toISOString(),
          endedAt: new Date(at).toISOString(),
          outcome: 'retry',
          code: 'timeout',
        },
        {
          startedAt: new Date(at).toISOString(),
          endedAt: '2026-11-21T02:30:00.000Z',
          outcome: 'done',
          code: 'ok',
          httpStatus: 200,
          statusCode: 2000,
        },
      ],
      files: [
        { name: '20112026.csv', bytes: 7, sha256: hash('as sent') },
        { name: '20112026_Result.csv', bytes: 11, sha256: hash('as received') },
        { name: 'earlier-ab-20112026.csv', bytes: 4, sha256: hash('old\n') },
      ],
    });
  });

  it('never contains a message of the service, which may name a guest', async () => {
    const { attempt, parts, run } = await prepareArchive();
    await archiveManifest(attempt, file);
    expect(await readWhole(parts.archive.read(day.iso, run.id, 'manifest.json'))).not.toContain('Success');
  });

  it('is not changed when an attempt that was interrupted after writing it is repeated', async () => {
    const { attempt, parts, run } = await prepareArchive();
    await archiveManifest(attempt, file);
    const read = () => readWhole(parts.archive.read(day.iso, run.id, 'manifest.json'));
    const first = await read();
    await archiveManifest({ ...attempt, tool: 'booked-hotel-review 10.0.0' }, { ...file, rows: 6 });
    expect(await read()).toBe(first);
  });

  it('describes a run without a result', async () => {
    const { attempt, parts, run } = await prepareArchive();
    await archiveManifest(attempt, {});
    const manifest = JSON.parse(await readWhole(parts.archive.read(day.iso, run.id, 'manifest.json')));
    expect(manifest).not.toHaveProperty('result');
    expect(manifest.files).toHaveLength(3);
  });
});

it('measures bytes in blocks of any size', async () => {
  const whole = { bytes: 9, sha256: hash('abcdefghi') };
  expect(await measure(blocksOf('abc', '', 'defghi'))).toEqual(whole);
  expect(await measure(blocksOf('abcdefghi'))).toEqual(whole);
  expect(await measure(blocksOf())).toEqual({ bytes: 0, sha256: hash('') });
});

/** A run that called twice and whose files are in the archive. */
async function prepareArchive() {
  const { parts, ledger, run, finish } = await prepareFileRun();
  for (const step of ['write', 'upload']) await finish(step);
  await perform(ledger, run, 'trigger', retry());
  await finish('trigger', undefined, 2);
  await finish('await-result');
  for (const [name, text] of [
    ['20112026.csv', 'as sent'],
    ['20112026_Result.csv', 'as received'],
    ['earlier-ab-20112026.csv', 'old\n'],
  ] as const)
    await parts.archive.store(day.iso, run.id, name, blocksOf(text));
  const attempt = attemptOf(parts, await ledger.runs.get(run.id), await claimStep(ledger, run, 'archive'));
  return { parts, run, attempt };
}
