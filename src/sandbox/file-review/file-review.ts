import { mkdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCalendarDay } from '../../booking/business-day.js';
import { type Refusal, refusal } from '../common/answer.js';
import { nameReason } from '../common/errors.js';
import type { FaultPlan } from '../common/faults.js';
import type { Outbox } from '../outbox/outbox.js';
import type { HotelDirectory } from '../world/world.js';
import { BrokenFile, type EmptyCells } from './file-rules.js';
import { createPendingResults, type FileReviewEvent, type ReviewPath } from './pending-results.js';
import { reviewFile } from './reviewed-file.js';

type FileAnswer = { readonly kind: 'accepted'; readonly rows: number } | Refusal;

/** The by-file operation of the service. It reads the SFTP server's files on this disk. (Spec 4.3.) */
export interface FileReview {
  /**
   * Reads and verifies the file before it responds; the result follows after the delay, then the e-mail. Later changes to
   * the file have no effect. Never throws.
   *
   * Each accepted call gets its own result. Results of one file are written in the order in which the calls were
   * accepted, and each replaces the one before.
   *
   * @param ftpFilePath as the call names it
   */
  accept(ftpFilePath: string | undefined): Promise<FileAnswer>;
  /** Abandons pending results and waits for those being written. Idempotent. */
  close(): Promise<void>;
}

interface FileReviewOptions {
  /** The SFTP root on this disk. */
  readonly root: string;
  /** A folder outside the SFTP root but on its disk, for drafts. Created when needed, removed by `close`. */
  readonly drafts: string;
  readonly world: HotelDirectory;
  /** What this deployment calls the master id's column. */
  readonly masterIdColumn: string;
  /** `refuse` by default. */
  readonly emptyCells?: EmptyCells;
  readonly resultDelayMs: number;
  /** Asked once per accepted file. */
  readonly faults: Pick<FaultPlan, 'nextResult'>;
  readonly outbox: Outbox;
  readonly onEvent: (event: FileReviewEvent) => void;
}

/** As observed in a live deployment. (Design 6.) */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

export function createFileReview(options: FileReviewOptions): FileReview {
  const { root, drafts, world, masterIdColumn, emptyCells = 'refuse' } = options;
  const { resultDelayMs, faults, outbox, onEvent } = options;
  const closing = new AbortController();
  const results = createPendingResults({ delayMs: resultDelayMs, outbox, onEvent });
  const calls = new Set<Promise<FileAnswer>>();
  let draftCount = 0;

  async function answer(ftpFilePath: string | undefined): Promise<FileAnswer> {
    try {
      closing.signal.throwIfAborted();
      const path = await findReviewFile(root, ftpFilePath);
      return path.kind === 'refusal' ? path : await review(path);
    } catch (error) {
      if (closing.signal.aborted) return refuse('internal', 'the service is being stopped');
      return refuse('internal', `the file can't be reviewed now (${nameReason(error)})`);
    }
  }

  async function review(path: ReviewPath): Promise<FileAnswer> {
    const draft = await nameDraft();
    try {
      const { signal } = closing;
      const { input } = path;
      const findings = await reviewFile({ input, draft, world, masterIdColumn, emptyCells, signal });
      if (findings.rows === 0) {
        await rm(draft);
        return refuse('hotels-missing', `${path.inputName}: only a header, no booked hotels`);
      }
      results.schedule({ path, draft, findings, fault: faults.nextResult() });
      return { kind: 'accepted', rows: findings.rows };
    } catch (error) {
      await rm(draft, { force: true });
      if (error instanceof BrokenFile) {
        return refuse('bad-hotel-data', `${path.inputName}, ${error.message}`);
      }
      throw error;
    }
  }

  async function nameDraft(): Promise<string> {
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    draftCount += 1;
    return join(drafts, `${draftCount}.csv`);
  }

  return {
    async accept(ftpFilePath) {
      const answered = answer(ftpFilePath);
      calls.add(answered);
      try {
        return await answered;
      } finally {
        calls.delete(answered);
      }
    },
    async close() {
      closing.abort();
      await Promise.all(calls);
      await results.close();
      await rm(drafts, { recursive: true, force: true });
    },
  };
}

function refuse(reason: keyof typeof statusCodes, message: string): Refusal {
  return refusal(statusCodes[reason], message);
}

const pathForm = 'VerifyMappings/MMYYYY/DDMMYYYY.csv';
const pathPattern = /^\/?(VerifyMappings\/(\d{2})(\d{4})\/(\d{2})(\d{2})(\d{4}))\.csv$/;
const maxQuotedPath = 200;
const absenceCodes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * Finds the file that a call names: a path relative to the SFTP root, with at most one leading slash. Never looks outside
 * the root, and never follows a symbolic link.
 */
async function findReviewFile(root: string, ftpFilePath: string | undefined): Promise<ReviewPath | Refusal> {
  if (ftpFilePath === undefined || ftpFilePath.trim() === '') {
    return refuse('path-missing', 'ftpFilePath is missing: expected the path of the uploaded file');
  }
  const quoted = JSON.stringify(ftpFilePath.slice(0, maxQuotedPath));
  const [, name, folderMonth, folderYear, dayOfMonth, month, year] = pathPattern.exec(ftpFilePath) ?? [];
  if (name === undefined) {
    return refuse(
      'bad-request',
      `ftpFilePath: expected ${pathForm}, relative to the SFTP root, got: ${quoted}`,
    );
  }
  if (!isCalendarDay(`${year}-${month}-${dayOfMonth}`) || folderMonth !== month || folderYear !== year) {
    return refuse(
      'bad-request',
      `ftpFilePath: expected a calendar day in the folder of its month, got: ${quoted}`,
    );
  }
  const inputName = `${name}.csv`;
  const resultName = `${name}_Result.csv`;
  const realRoot = await realpath(root);
  const input = join(realRoot, inputName);
  if (!(await isPlainFile(input))) {
    return refuse('bad-request', `ftpFilePath: there is no file ${quoted} on the SFTP server`);
  }
  return { kind: 'found', input, result: join(realRoot, resultName), inputName, resultName };
}

/** True for a regular file whose path contains no symbolic link. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await realpath(path)) === path && (await stat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error && absenceCodes.includes(error.code)) return false;
    throw error;
  }
}
