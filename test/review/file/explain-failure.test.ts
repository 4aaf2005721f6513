import { describe, expect, it } from 'vitest';
import { explainFailure } from '../../../src/review/file/explain-failure.js';
import type { SeenResult } from '../../../src/rules/review-file.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../some-run.js';

const run = someRun({ day: '2026-11-20' });
const paths = { root: '/reviews', pathPrefix: 'acme/' };

it.each(['sftp-no-such-file', 'sftp-permission-denied', 'sftp-server-failure'])(
  'the folder on the server is named after %s',
  (code) => {
    expect(explainFailure(run, { name: 'upload', code }, paths)).toBe(
      'file.sftp.root must be a folder on the server below which the account may write, and create /reviews/VerifyMappings/112026: check it',
    );
  },
);

it('what the service was told is named after its refusal', () => {
  expect(explainFailure(run, { name: 'trigger', code: 'code-2020' }, paths)).toBe(
    'the service was told acme/VerifyMappings/112026/20112026.csv (the prefix acme/), which is /reviews/VerifyMappings/112026/20112026.csv on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix',
  );
});

it.each([
  ['trigger', 'code-2001'],
  ['trigger', 'http-503'],
  ['batch 1', 'code-2020'],
  ['upload', 'sftp-connection-lost'],
])('%s with %s has nothing to do with a path', (name, code) => {
  expect(explainFailure(run, { name, code }, paths)).toBeUndefined();
});

it.each([
  ['local-enospc', 'free space on the disk of file.spool'],
  ['local-edquot', 'free space on the disk of file.spool'],
  ['local-eacces', 'fix the folder file.spool'],
  ['sftp-local-file', 'free space on the disk of file.spool, or fix the permissions of that folder'],
  [
    'archive-unwritable',
    'free space on the disk of the archive, or fix the permissions of its folder; for a bucket, `hotel-review doctor` says what is missing',
  ],
  ['sftp-disk-full', 'have space freed on the SFTP server'],
  ['http-503', undefined],
  ['sftp-connection-lost', undefined],
])('a step that failed with %s needs a person to %s', (code, advice) => {
  expect(explainFailure(run, { name: 'upload', code }, undefined)).toBe(advice);
});

describe('the reason why a run fails', () => {
  it('names the columns of which nobody knows which counts', () => {
    const ambiguous = ['IsCorrectMapping (column 8)', 'IsCorrectMapping (column 9)'];
    const unreadable = { columns: [], resultColumn: 'IsCorrectMapping', isFound: true, ambiguous };
    const twice = someRun({ day: '2026-11-20', file: { rows: 10, unreadable } });
    expect(explainFailure(twice, { name: 'await-result', code: 'result-unreadable' }, paths)).toMatchObject({
      message:
        'the result has several columns of one name, and which of them counts is not clear: IsCorrectMapping (column 8), ' +
        'IsCorrectMapping (column 9). Ask the service for a result with one of them, then run 2026-11-20 again',
    });
  });

  const verdicts = { affected: 1, unanswered: 2, unclear: 1, malformed: 0 };
  const judged = someRun({ file: { rows: 10, verdicts } });
  const failed = (code: string) => ({ name: 'await-result', code });

  it('says how many bookings have no verdict, and what to do', () => {
    expect(explainResult(judged, failed('result-incomplete'))).toEqual({
      code: 'result-incomplete',
      message:
        '3 of 10 bookings have no verdict, more than maxUnansweredShare allows: the result does not name 2, and it names 1 without a readable verdict about the master hotel that was sent. What it names is listed. Ask the service for the complete result, or set file.resultValues, then run 2026-11-20 again',
    });
  });

  it.each([
    [
      2,
      0,
      'the result does not name 2. What it names is listed. Ask the service for the complete result, then',
    ],
    [
      0,
      1,
      'it names 1 without a readable verdict about the master hotel that was sent. What it names is listed. Ask the service for the complete result, or set file.resultValues, then',
    ],
  ])('says only what is true of %d unanswered and %d unclear bookings', (unanswered, unclear, words) => {
    const file = { rows: 10, verdicts: { ...verdicts, unanswered, unclear } };
    const message = explainResult({ ...judged, file }, failed('result-incomplete'))?.message;
    expect(message).toContain(`maxUnansweredShare allows: ${words} run 2026-11-20 again`);
  });

  it('names the setting for other words, if the column of verdicts is there', () => {
    const unreadable = { columns: ['Ref', 'Ok'], resultColumn: 'Ok', isFound: true };
    expect(explainResult({ ...judged, file: { unreadable } }, failed('result-unreadable'))?.message).toBe(
      'the result has no readable verdict: no value of its column Ok is a known verdict. Its columns are Ref, Ok. Set file.resultValues to the words that it uses (or file.resultColumn to another column), then run 2026-11-20 again',
    );
  });

  it('is the one of its code, whatever else was seen of the result', () => {
    const unreadable = { columns: ['Ref'], resultColumn: 'Ok', isFound: false };
    const explain = (file: object, code: string) => explainResult({ ...judged, file }, failed(code));
    expect(explain({ ...judged.file, unreadable }, 'result-incomplete')?.message).toContain(
      'have no verdict',
    );
    expect(explain({ unreadable }, 'sftp-disk-full')).toBeUndefined();
    expect(explain({}, 'result-unreadable')).toBeUndefined();
  });

  it('names the columns of a result without verdicts, and the setting to use', () => {
    const unreadable = {
      columns: ['BookingReferenceId', 'MappingStatus'],
      resultColumn: 'IsCorrectMapping',
      isFound: false,
    };
    const explained = explainResult(
      { ...judged, file: { ...judged.file, unreadable } },
      failed('result-unreadable'),
    );
    expect(explained).toMatchObject({ code: 'result-unreadable' });
    expect(explained?.message).toBe(
      'the result has no readable verdict: it has no column IsCorrectMapping. Its columns are BookingReferenceId, MappingStatus. Set file.resultColumn to the one with the verdicts, and file.resultValues if it uses other words, then run 2026-11-20 again',
    );
  });

  it('says what was seen of a result that is no table of bookings, and what helps', () => {
    const explain = (differing: Partial<SeenResult>) => {
      const seen = {
        columns: 1,
        rows: 12,
        namesBookings: false,
        encoding: 'utf-8',
        delimiter: ',',
        ...differing,
      };
      const unreadable = { columns: [], resultColumn: 'IsCorrectMapping', isFound: false, seen };
      const file = { ...judged.file, unreadable };
      const explained = explainResult({ ...judged, file }, failed('result-unreadable'));
      expect(explained).toMatchObject({ code: 'result-unreadable' });
      expect(explainResult({ ...judged, file }, failed('sftp-disk-full'))).toBeUndefined();
      return explained?.message;
    };
    expect(explain({})).toBe(
      'the result cannot be read as a table of bookings: one column in 12 rows was seen, read as utf-8 with "," between cells, and no column is named like the reference, the master id or the hotel id that were sent. Ask the service for a CSV file, then run 2026-11-20 again',
    );
    expect(explain({ columns: 8, namesBookings: true, delimiter: '\t' })).toContain(
      '8 columns in 12 rows were seen, read as utf-8 with a tab between cells, and no row has as many cells as the header',
    );
    expect(explain({ container: 'an Excel workbook' })).toContain(
      'it is an Excel workbook. Ask the service for a CSV file',
    );
  });

  it('says what does not fit on the local disk, and can be resumed without a decision', () => {
    const excess = { code: 'sftp-no-local-space', message: 'x is on the server. Free 3 MB there.' };
    expect(explainResult({ ...judged, file: { excess } }, failed(excess.code))).toEqual({
      code: 'sftp-no-local-space',
      message:
        'await-result of run 20261120-k3f9xq7d failed with sftp-no-local-space: x is on the server. Free 3 MB there. Then run 2026-11-20 again',
    });
  });

  it('says what is too large, which somebody has to decide about', () => {
    const excess = { code: 'result-too-large', message: 'x has 9 GB.' };
    const explained = explainResult({ ...judged, file: { excess } }, failed(excess.code));
    expect(explained).toMatchObject({ code: 'result-too-large' });
  });

  it('is a different one for any other step', () => {
    expect(explainResult(judged, failed('sftp-disk-full'))).toBeUndefined();
  });
});

/** The failure that a result alone explains; undefined for one that advice is given about. */
function explainResult(failedRun: Run, failed: { readonly name: string; readonly code: string }) {
  const explained = explainFailure(failedRun, failed, undefined);
  return typeof explained === 'string' ? undefined : explained;
}
