import { formatCountOf } from '../../base/format.js';
import { createBusinessDay } from '../../booking/business-day.js';
import type { FailedStep } from '../../ledger/steps.js';
import type { SeenResult } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { joinToRoot } from '../../transports/sftp/session.js';
import type { Explanation } from '../perform/settle.js';
import { locateRemoteFiles } from './remote-files.js';

/** Settings that decide what the day's file is called. */
export interface PathSettings {
  /** The root on the SFTP server. */
  readonly root: string;
  /** Prepended to the path that the service is told. */
  readonly pathPrefix: string;
}

type NamedStep = Omit<FailedStep, 'failureClass'>;

/** Why a run fails that a step of a file delivery failed; or what to do about it; undefined if the code says enough. */
export function explainFailure(
  run: Run,
  failed: NamedStep,
  paths: PathSettings | undefined,
): Explanation | string | undefined {
  return (
    explainResult(run, failed) ?? adviseOnDisk(failed.code) ?? (paths && adviseOnPath(run, failed, paths))
  );
}

const delimiterNames: Readonly<Record<string, string>> = { '\t': 'a tab' };

/** Its cells stay out of it: where no header was found they may name guests. */
function describeSeen({ columns, rows, namesBookings, encoding, delimiter, container }: SeenResult): string {
  const intro = 'the result cannot be read as a table of bookings';
  if (container !== undefined) return `${intro}: it is ${container}. Ask the service for a CSV file`;
  const table = `${columns === 1 ? 'one column' : formatCountOf(columns, 'column')} in ${formatCountOf(rows, 'row')}`;
  const by = delimiterNames[delimiter] ?? JSON.stringify(delimiter);
  const fault = namesBookings
    ? 'no row has as many cells as the header'
    : 'no column is named like the reference, the master id or the hotel id that were sent';
  return `${intro}: ${table} ${columns === 1 ? 'was' : 'were'} seen, read as ${encoding} with ${by} between cells, and ${fault}. Ask the service for a CSV file`;
}

/** Why a run fails whose result does not suffice, or is too much; undefined for the code of any other failed step. */
function explainResult({ id, day, file }: Run, { name, code }: NamedStep): Explanation | undefined {
  const { rows = 0, verdicts, unreadable, excess } = file ?? {};
  if (excess?.code === code) {
    const message = `${name} of run ${id} failed with ${code}: ${excess.message} Then run ${day} again`;
    return { code, message };
  }
  if (code === 'result-unreadable' && unreadable?.ambiguous)
    return {
      code,
      message: `the result has several columns of one name, and which of them counts is not clear: ${unreadable.ambiguous.join(', ')}. Ask the service for a result with one of them, then run ${day} again`,
    };
  if (code === 'result-unreadable' && unreadable?.seen)
    return { code, message: `${describeSeen(unreadable.seen)}, then run ${day} again` };
  if (code === 'result-unreadable' && unreadable) {
    const { columns, resultColumn, isFound } = unreadable;
    const fault = isFound
      ? `no value of its column ${resultColumn} is a known verdict`
      : `it has no column ${resultColumn}`;
    const advice = isFound
      ? 'Set file.resultValues to the words that it uses (or file.resultColumn to another column)'
      : 'Set file.resultColumn to the one with the verdicts, and file.resultValues if it uses other words';
    return {
      code,
      message: `the result has no readable verdict: ${fault}. Its columns are ${columns.join(', ')}. ${advice}, then run ${day} again`,
    };
  }
  if (code === 'result-incomplete' && verdicts) {
    const { unanswered, unclear } = verdicts;
    const parts = [
      unanswered > 0 && `the result does not name ${unanswered}`,
      unclear > 0 && `it names ${unclear} without a readable verdict about the master hotel that was sent`,
    ].filter((part) => part !== false);
    return {
      code,
      message: `${unanswered + unclear} of ${rows} bookings have no verdict, more than maxUnansweredShare allows: ${parts.join(', and ')}. What it names is listed. Ask the service for the complete result${unclear > 0 ? ', or set file.resultValues' : ''}, then run ${day} again`,
    };
  }
  return undefined;
}

/** What to do when a step of a file run failed because of a disk or a slow server. */
const advice: Readonly<Record<string, string>> = {
  'local-enospc': 'free space on the disk of file.spool',
  'local-edquot': 'free space on the disk of file.spool',
  'sftp-too-slow': 'ask the operator of the SFTP server why it is so slow',
  'sftp-step-too-slow': 'ask the operator of the SFTP server why it is so slow',
  'sftp-local-file': 'free space on the disk of file.spool, or fix the permissions of that folder',
  'archive-unwritable':
    'free space on the disk of the archive, or fix the permissions of its folder; for a bucket, `hotel-review doctor` says what is missing',
  'archive-refused':
    'fix the key of the bucket in the environment, or its permissions: `hotel-review doctor` says what is missing',
  'sftp-disk-full': 'have space freed on the SFTP server',
};

function adviseOnDisk(code: string): string | undefined {
  return advice[code] ?? (code.startsWith('local-') ? 'fix the folder file.spool' : undefined);
}

/** What servers answer when the root is not an existing folder, or not the account's own. */
const codesOfWrongRoot: readonly string[] = [
  'sftp-no-such-file',
  'sftp-permission-denied',
  'sftp-server-failure',
];
/** Codes of the service that say nothing about the path. */
const codesOfOtherCauses: readonly string[] = ['code-2001', 'code-2030'];

/** What to do when a step failed because a path may be wrong: names it as the other side knows it. */
function adviseOnPath(
  { day }: Run,
  { name, code }: NamedStep,
  { root, pathPrefix }: PathSettings,
): string | undefined {
  const { folder, path } = locateRemoteFiles(createBusinessDay(day, 'UTC'));
  if (codesOfWrongRoot.includes(code))
    return `file.sftp.root must be a folder on the server below which the account may write, and create ${joinToRoot(root, folder)}: check it`;
  if (name !== 'trigger' || !code.startsWith('code-') || codesOfOtherCauses.includes(code)) return undefined;
  const prefix = pathPrefix === '' ? 'no prefix' : `the prefix ${pathPrefix}`;
  return `the service was told ${pathPrefix}${path} (${prefix}), which is ${joinToRoot(root, path)} on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix`;
}
