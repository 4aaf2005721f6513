import { escapePattern } from '../../base/foreign-text.js';
import { formatCount } from '../../base/format.js';
import { type BusinessDay, isDayPattern } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { ReviewFile } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { SftpError, type SizeLimit } from '../../transports/sftp/sftp.js';
import { listRunsOfDay } from '../every-run.js';

/**
 * Where a day's review file is on the SFTP server, from its root, without a leading slash. (Spec 4.3, step 2.)
 */
export interface RemoteFiles {
  readonly folder: string;
  readonly name: string;
  readonly path: string;
  /** A name that is unique to the attempt and can't be mistaken for a file to be reviewed. */
  temporaryPath(runId: string, token: number, attempt: number): string;
  /** Whether the file was left by an interrupted attempt of that day. */
  isLeftover(name: string): boolean;
}

const temporarySuffix = '.part';

export function locateRemoteFiles({ mmyyyy, ddmmyyyy }: BusinessDay): RemoteFiles {
  const folder = `VerifyMappings/${mmyyyy}`;
  const name = `${ddmmyyyy}.csv`;
  return {
    folder,
    name,
    path: `${folder}/${name}`,
    temporaryPath: (runId, token, attempt) =>
      `${folder}/${ddmmyyyy}.${runId}.${token}-${attempt}${temporarySuffix}`,
    isLeftover: (found) => found.startsWith(`${ddmmyyyy}.`) && found.endsWith(temporarySuffix),
  };
}

/** The day as DDMMYYYY, anything, `_Result.csv`. (Spec 4.3, step 4.) */
export const defaultResultPattern = '{day:ddMMyyyy}*_Result.csv';

/** One pair of braces, or text outside braces; a single brace is neither. */
const patternPart = /\{([^{}]*)\}|[^{}]+|[{}]/g;

/**
 * Creates the test for the names of a day's result. In the pattern, `{day}` is the day as YYYY-MM-DD, `{day:PATTERN}`
 * the day in a date-fns pattern, and `*` any number of characters; everything else is literal and case-sensitive. The
 * day's input file never counts as its result.
 *
 * @throws RangeError for a slash, anything else in braces, or a pattern that date-fns refuses
 */
export function createResultNameTest(pattern: string, day: BusinessDay): (name: string) => boolean {
  if (pattern.includes('/'))
    throw new RangeError(
      `the result pattern ${JSON.stringify(pattern)} contains a slash, but it must match a file name`,
    );
  const parts = [...pattern.matchAll(patternPart)].map(([part, placeholder]) => {
    if (placeholder !== undefined) return escapePattern(writeDay(placeholder, pattern, day));
    if (part === '{' || part === '}')
      throw new RangeError(`the result pattern ${JSON.stringify(pattern)} has an unmatched brace`);
    return part.split('*').map(escapePattern).join('.*');
  });
  const wanted = new RegExp(`^${parts.join('')}$`, 's');
  const inputName = `${day.ddmmyyyy}.csv`;
  return (name) => name !== inputName && wanted.test(name);
}

function writeDay(placeholder: string, pattern: string, day: BusinessDay): string {
  if (placeholder === 'day') return day.iso;
  const format = placeholder.startsWith('day:') ? placeholder.slice('day:'.length) : '';
  if (isDayPattern(format)) return day.format(format);
  throw new RangeError(
    `the result pattern ${JSON.stringify(pattern)} has {${placeholder}}: only {day} and {day:ddMMyyyy} (or another date-fns pattern) are supported`,
  );
}

/** More results than the replays of a day leave behind. */
const mostResults = 100;

/** Each result is downloaded and archived. @throws SftpError for more than any day has */
export function expectFewResults(count: number, folder: string): void {
  if (count <= mostResults) return;
  throw new SftpError(
    'excessive',
    'too-many-results',
    `${folder} has ${formatCount(count)} files named like a result of the day, and at most ${mostResults} are looked at. Have those that are not the service's removed, or fix file.resultPattern.`,
  );
}

/** Accepted however small the file was that was sent: a small result may have many columns, or explanations. */
const freeBytes = 16_000_000;
const freeRows = 10_000;
/** A result repeats the rows of the file, with a few more columns. */
const resultFactor = 10;

type Sent = Partial<ReviewFile> | undefined;

/** The largest file that is downloaded from the server in answer to the one that was sent. */
export function limitReceived(sent: Sent): SizeLimit {
  return {
    bytes: Math.ceil((sent?.bytes ?? 0) * resultFactor) + freeBytes,
    advice: `It is more than ${resultFactor} times the file that was sent: have it removed from the server, and ask the service about it.`,
  };
}

/** What is on the server may belong to another run of the day, which sent more. */
export async function limitEarlier(
  { ledger }: { readonly ledger: ReadOnlyLedger },
  day: string,
): Promise<SizeLimit> {
  return limitReceived(largestOf(await listRunsOfDay(ledger, day)));
}

/** The largest file that these runs sent. */
export function largestOf(runs: readonly Run[]): Sent {
  return runs.map(({ file }) => file).sort((one, other) => (other?.bytes ?? 0) - (one?.bytes ?? 0))[0];
}

/** A result has more rows than any answer to what was sent. */
export class TooManyRowsError extends Error {
  override readonly name = 'TooManyRowsError';
  readonly code = 'result-too-many-rows';
}

/** @returns a function that takes the number of rows read so far */
export function limitRows(sent: Sent): (rows: number) => void {
  const maxRows = Math.ceil((sent?.rows ?? 0) * resultFactor) + freeRows;
  return (rows) => {
    if (rows <= maxRows) return;
    throw new TooManyRowsError(
      `the result has more than ${formatCount(maxRows)} rows for ${formatCount(sent?.rows ?? 0)} that were sent: ask the service about it`,
    );
  };
}
