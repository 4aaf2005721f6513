import { expect, it } from 'vitest';
import { explainFailure } from '../../../src/review/file/explain-failure.js';
import type { ReviewFile, SeenResult } from '../../../src/rules/review-file.js';
import { someRun } from '../some-run.js';

const paths = { root: '/reviews', pathPrefix: 'acme/' };
const verdicts = { affected: 1, unanswered: 2, unclear: 1, malformed: 0 };
const incomplete = (unanswered: number, unclear: number) => ({
  rows: 10,
  verdicts: { ...verdicts, unanswered, unclear },
});
const named = { columns: ['Ref', 'Ok'], resultColumn: 'Ok', isFound: true };
const excess = { code: 'sftp-no-local-space', message: 'x is on the server. Free 3 MB there.' };
const seen = (differing: Partial<SeenResult>) => ({
  unreadable: {
    ...{ ...named, isFound: false, columns: [] },
    seen: { columns: 1, rows: 12, namesBookings: false, encoding: 'utf-8', delimiter: ',', ...differing },
  },
});

/** What is said of a step that failed with that code, once that was seen of the file. */
const said: readonly [name: string, code: string, file?: Partial<ReviewFile>][] = [
  ['upload', 'sftp-no-such-file'],
  ['upload', 'sftp-permission-denied'],
  ['upload', 'sftp-server-failure'],
  ['upload', 'sftp-connection-lost'],
  ['trigger', 'code-2020'],
  ['trigger', 'code-2001'],
  ['trigger', 'code-2030'],
  ['trigger', 'http-503'],
  ['batch 1', 'code-2020'],
  ['upload', 'local-enospc'],
  ['upload', 'local-edquot'],
  ['upload', 'local-eacces'],
  ['upload', 'sftp-too-slow'],
  ['upload', 'sftp-local-file'],
  ['archive', 'archive-unwritable'],
  ['archive', 'archive-refused'],
  ['upload', 'sftp-disk-full', { ...incomplete(2, 1), unreadable: named }],
  ['await-result', 'result-incomplete', { ...incomplete(2, 1), unreadable: named }],
  ['await-result', 'result-incomplete', incomplete(2, 0)],
  ['await-result', 'result-incomplete', incomplete(0, 1)],
  ['await-result', 'result-incomplete'],
  ['await-result', 'result-unreadable'],
  ['await-result', 'result-unreadable', { unreadable: named }],
  ['await-result', 'result-unreadable', { unreadable: { ...named, isFound: false } }],
  [
    'await-result',
    'result-unreadable',
    { unreadable: { ...named, ambiguous: ['Ok (column 8)', 'Ok (column 9)'] } },
  ],
  ['await-result', 'result-unreadable', seen({})],
  ['await-result', 'result-unreadable', seen({ columns: 8, namesBookings: true, delimiter: '\t' })],
  ['await-result', 'result-unreadable', seen({ container: 'an Excel workbook' })],
  ['await-result', 'sftp-disk-full', seen({})],
  ['await-result', excess.code, { excess }],
  ['await-result', 'result-too-large', { excess: { ...excess, code: 'result-too-large' } }],
];

it('The failure of a step names what was seen, and what to do, as the other side knows it', () => {
  const lines = said.map(([name, code, file]) => {
    const run = someRun({ day: '2026-11-20', ...(file && { file }) });
    const explained = explainFailure(run, { name, code }, paths);
    const text = typeof explained === 'object' ? `${explained.code}: ${explained.message}` : explained;
    return `${name}, ${code}: ${text ?? '-'}`;
  });
  expect(lines).toEqual([
    'upload, sftp-no-such-file: file.sftp.root must be a folder on the server below which the account may write, and create /reviews/VerifyMappings/112026: check it',
    'upload, sftp-permission-denied: file.sftp.root must be a folder on the server below which the account may write, and create /reviews/VerifyMappings/112026: check it',
    'upload, sftp-server-failure: file.sftp.root must be a folder on the server below which the account may write, and create /reviews/VerifyMappings/112026: check it',
    'upload, sftp-connection-lost: -',
    'trigger, code-2020: the service was told acme/VerifyMappings/112026/20112026.csv (the prefix acme/), which is /reviews/VerifyMappings/112026/20112026.csv on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix',
    'trigger, code-2001: -',
    'trigger, code-2030: -',
    'trigger, http-503: -',
    'batch 1, code-2020: -',
    'upload, local-enospc: free space on the disk of file.spool',
    'upload, local-edquot: free space on the disk of file.spool',
    'upload, local-eacces: fix the folder file.spool',
    'upload, sftp-too-slow: ask the operator of the SFTP server why it is so slow',
    'upload, sftp-local-file: free space on the disk of file.spool, or fix the permissions of that folder',
    'archive, archive-unwritable: free space on the disk of the archive, or fix the permissions of its folder; for a bucket, `hotel-review doctor` says what is missing',
    'archive, archive-refused: fix the key of the bucket in the environment, or its permissions: `hotel-review doctor` says what is missing',
    'upload, sftp-disk-full: have space freed on the SFTP server',
    'await-result, result-incomplete: result-incomplete: 3 of 10 bookings have no verdict, more than maxUnansweredShare allows: the result does not name 2, and it names 1 without a readable verdict about the master hotel that was sent. What it names is listed. Ask the service for the complete result, or set file.resultValues, then run 2026-11-20 again',
    'await-result, result-incomplete: result-incomplete: 2 of 10 bookings have no verdict, more than maxUnansweredShare allows: the result does not name 2. What it names is listed. Ask the service for the complete result, then run 2026-11-20 again',
    'await-result, result-incomplete: result-incomplete: 1 of 10 bookings have no verdict, more than maxUnansweredShare allows: it names 1 without a readable verdict about the master hotel that was sent. What it names is listed. Ask the service for the complete result, or set file.resultValues, then run 2026-11-20 again',
    'await-result, result-incomplete: -',
    'await-result, result-unreadable: -',
    'await-result, result-unreadable: result-unreadable: the result has no readable verdict: no value of its column Ok is a known verdict. Its columns are Ref, Ok. Set file.resultValues to the words that it uses (or file.resultColumn to another column), then run 2026-11-20 again',
    'await-result, result-unreadable: result-unreadable: the result has no readable verdict: it has no column Ok. Its columns are Ref, Ok. Set file.resultColumn to the one with the verdicts, and file.resultValues if it uses other words, then run 2026-11-20 again',
    'await-result, result-unreadable: result-unreadable: the result has several columns of one name, and which of them counts is not clear: Ok (column 8), Ok (column 9). Ask the service for a result with one of them, then run 2026-11-20 again',
    'await-result, result-unreadable: result-unreadable: the result cannot be read as a table of bookings: one column in 12 rows was seen, read as utf-8 with "," between cells, and no column is named like the reference, the master id or the hotel id that were sent. Ask the service for a CSV file, then run 2026-11-20 again',
    'await-result, result-unreadable: result-unreadable: the result cannot be read as a table of bookings: 8 columns in 12 rows were seen, read as utf-8 with a tab between cells, and no row has as many cells as the header. Ask the service for a CSV file, then run 2026-11-20 again',
    'await-result, result-unreadable: result-unreadable: the result cannot be read as a table of bookings: it is an Excel workbook. Ask the service for a CSV file, then run 2026-11-20 again',
    'await-result, sftp-disk-full: have space freed on the SFTP server',
    'await-result, sftp-no-local-space: sftp-no-local-space: await-result of run 20261120-k3f9xq7d failed with sftp-no-local-space: x is on the server. Free 3 MB there. Then run 2026-11-20 again',
    'await-result, result-too-large: result-too-large: await-result of run 20261120-k3f9xq7d failed with result-too-large: x is on the server. Free 3 MB there. Then run 2026-11-20 again',
  ]);
});

it('A way to the server that is not known is not named', () => {
  expect(explainFailure(someRun(), { name: 'upload', code: 'sftp-no-such-file' }, undefined)).toBeUndefined();
  const withoutPrefix = { root: '', pathPrefix: '' };
  expect(explainFailure(someRun(), { name: 'trigger', code: 'code-2020' }, withoutPrefix)).toMatch(
    /was told VerifyMappings\/112026\/20112026\.csv \(no prefix\)/,
  );
});
