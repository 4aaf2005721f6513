import type { DeskParts } from '../../src/desk/page.js';
import { describeCalls, describeRun, manifestName } from '../../src/review/file/archive-run.js';
import type { ReviewFile } from '../../src/rules/review-file.js';
import type { Run } from '../../src/rules/run.js';
import { type Archive, reportsFolder } from '../../src/storage/archive.js';
import { at, done, type Found, perform, rightOf } from '../contracts/ledger/days.js';
import { collectedFileRun, fileSteps } from '../contracts/ledger/file-days.js';
import { sha256Of } from '../support/archived-run.js';

export const fileRunId = '20261119-archived';
export const resultName = '19112026-result.csv';
export const resultContent = 'BookingReferenceId,BookingClientName,isCorrect\nF-1,Ana Gil,false\n';

const found: Readonly<Record<string, Partial<ReviewFile>>> = {
  write: { rows: 6, bytes: 600, sha256: sha256Of('the file') },
  upload: { remotePath: 'acme/112026/19112026.csv' },
  trigger: { triggeredAt: at },
  'await-result': {
    result: {
      name: resultName,
      size: resultContent.length,
      modifiedAt: at,
      sha256: sha256Of(resultContent),
      rows: 5,
      isWhole: true,
    },
    verdicts: { affected: 1, unanswered: 1, unclear: 0, malformed: 0, listsUnanswered: true },
  },
  archive: { archivedTo: `archive/2026-11-19/${fileRunId}` },
};

/** A day by file that has ended: bookings F-0 to F-5, of which F-1 is affected and F-2 has no verdict, and B-0 to B-2 by body. */
export async function addFileRun(
  ledger: DeskParts['ledger'],
  id = fileRunId,
  day = '2026-11-19',
): Promise<Run> {
  const run = await collectedFileRun(ledger, id, { file: 6, body: 3, day });
  let known: Partial<ReviewFile> = {};
  for (const step of fileSteps) {
    known = { ...known, ...found[step] };
    const outcome: Found = {
      ...done,
      file: known,
      ...(step === 'await-result' && {
        verdicts: [
          { batch: 0, judged: 'incorrect' as const, rows: [1] },
          { batch: 0, judged: 'not-in-result' as const, rows: [2] },
        ],
      }),
    };
    await perform(ledger, run, step, outcome);
  }
  await perform(ledger, run, 'batch 0', done);
  await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: at + 60_000 });
  return ledger.runs.get(id);
}

/** An archive in memory with the result, the manifest and the kept report of such a run. */
export function archiveOf(
  run: Run,
  changes: Readonly<Record<string, string>> = {},
): Pick<Archive, 'list' | 'read'> {
  const manifest = {
    tool: 'test',
    ...describeRun(run),
    calls: describeCalls([]),
    files: [
      { name: '19112026.csv', bytes: 600, sha256: run.file?.sha256 },
      { name: resultName, bytes: resultContent.length, sha256: run.file?.result?.sha256 },
    ],
  };
  const report = `${run.id}-succeeded.html`;
  const files: Readonly<Record<string, string>> = {
    [`${run.day}/${run.id}/${resultName}`]: resultContent,
    [`${run.day}/${run.id}/${manifestName}`]: JSON.stringify(manifest),
    [`${reportsFolder}/2026-11-20/${report}`]: '<!doctype html><p>The day as it was.</p>',
    ...changes,
  };
  return {
    list: async (folder, name) =>
      Object.keys(files)
        .filter((path) => path.startsWith(`${folder}/${name}/`))
        .map((path) => path.split('/').at(-1) ?? ''),
    async *read(...path) {
      const content = files[path.join('/')];
      if (content === undefined) throw new RangeError(`no ${path.join('/')}`);
      yield Buffer.from(content);
    },
  };
}
