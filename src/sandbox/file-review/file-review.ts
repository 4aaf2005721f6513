import { mkdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCalendarDay } from '../../booking/business-day.js';
import { nameReason } from '../common/errors.js';
import type { FaultPlan } from '../common/faults.js';
import type { Outbox } from '../outbox/outbox.js';
import type { HotelDirectory } from '../world/world.js';
import { createDueResults, type FileReviewEvent } from './due-results.js';
import { BrokenFile } from './file-rules.js';
import { reviewFile } from './reviewed-file.js';

/** What a by-file call is answered with. */
export type FileAnswer = { readonly kind: 'taken'; readonly rows: number } | FileRefusal;

export interface FileRefusal {
  readonly kind: 'refused';
  readonly statusCode: number;
  /** Names no guest. */
  readonly message: string;
}

/** The codes that a live deployment is known to have for these. (Design 6.) */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

export function refuse(reason: keyof typeof statusCodes, message: string): FileRefusal {
  return { kind: 'refused', statusCode: statusCodes[reason], message };
}

export type { FileReviewEvent } from './due-results.js';

/** The by-file half of the service: it looks at the SFTP server's files on this disk. (Spec 4.3.) */
export interface FileReview {
  /**
   * Reads and verifies the file at once and answers; the result comes after the delay, and the e-mail after it. What
   * becomes of the file in the meantime changes nothing. Never throws.
   *
   * Every call that is taken is performed. The results of one file are written one after another, in the order in which
   * the calls were taken; each replaces the one before it.
   *
   * @param ftpFilePath as the call names it
   */
  take(ftpFilePath: string | undefined): Promise<FileAnswer>;
  /** Gives up the results that are due later, and waits for what is being written. Idempotent. */
  close(): Promise<void>;
}

export interface FileReviewOptions {
  /** The SFTP root on this disk. */
  readonly root: string;
  /**
   * A folder where results are drafted, made when it is needed and removed by `close`: no client of the SFTP server sees
   * it, and it is on the root's disk.
   */
  readonly drafts: string;
  readonly world: HotelDirectory;
  /** This deployment's name for the master id's column. */
  readonly masterIdColumn: string;
  readonly resultDelayMs: number;
  /** Asked once for every file that was taken. */
  readonly faults: Pick<FaultPlan, 'nextResult'>;
  readonly outbox: Outbox;
  readonly onEvent: (event: FileReviewEvent) => void;
}

export function createFileReview(options: FileReviewOptions): FileReview {
  const { root, drafts, world, masterIdColumn, resultDelayMs, faults, outbox, onEvent } = options;
  const closing = new AbortController();
  const results = createDueResults({ delayMs: resultDelayMs, outbox, onEvent });
  const takes = new Set<Promise<FileAnswer>>();
  let draftCount = 0;

  async function answer(ftpFilePath: string | undefined): Promise<FileAnswer> {
    try {
      closing.signal.throwIfAborted();
      const path = await findReviewFile(root, ftpFilePath);
      return path.kind === 'refused' ? path : await review(path);
    } catch (error) {
      if (closing.signal.aborted) return refuse('internal', 'the service is being stopped');
      return refuse('internal', `the file can't be reviewed now (${nameReason(error)})`);
    }
  }

  async function review(path: ReviewPath): Promise<FileAnswer> {
    const draft = await nameDraft();
    try {
      const { signal } = closing;
      const findings = await reviewFile({ input: path.input, draft, world, masterIdColumn, signal });
      if (findings.rows === 0) {
        await rm(draft);
        return refuse('hotels-missing', `${path.inputName}: only a header, no booked hotels`);
      }
      results.promise({ path, draft, findings, fault: faults.nextResult() });
      return { kind: 'taken', rows: findings.rows };
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
    async take(ftpFilePath) {
      const answered = answer(ftpFilePath);
      takes.add(answered);
      try {
        return await answered;
      } finally {
        takes.delete(answered);
      }
    },
    async close() {
      closing.abort();
      await Promise.all(takes);
      await results.close();
      await rm(drafts, { recursive: true, force: true });
    },
  };
}

/** A review file that is there, and where its result belongs. */
export interface ReviewPath {
  readonly kind: 'found';
  /** On this disk. */
  readonly input: string;
  readonly result: string;
  /** As the SFTP server's clients name them, without a leading slash. */
  readonly inputName: string;
  readonly resultName: string;
}

const form = 'VerifyMappings/MMYYYY/DDMMYYYY.csv';
const reviewFilePath = /^\/?(VerifyMappings\/(\d{2})(\d{4})\/(\d{2})(\d{2})(\d{4}))\.csv$/;
const longestEcho = 200;

/**
 * Finds the file that a call names: a path relative to the SFTP root, where one leading slash does no harm. Nothing
 * outside of the root is ever looked at, nor what a symbolic link leads to.
 */
export async function findReviewFile(
  root: string,
  ftpFilePath: string | undefined,
): Promise<ReviewPath | FileRefusal> {
  if (ftpFilePath === undefined || ftpFilePath.trim() === '') {
    return refuse('path-missing', 'ftpFilePath is missing: expected the path of the uploaded file');
  }
  const told = JSON.stringify(ftpFilePath.slice(0, longestEcho));
  const [, name, folderMonth, folderYear, dayOfMonth, month, year] = reviewFilePath.exec(ftpFilePath) ?? [];
  if (name === undefined) {
    return refuse('bad-request', `ftpFilePath: expected ${form}, relative to the SFTP root, got: ${told}`);
  }
  if (!isCalendarDay(`${year}-${month}-${dayOfMonth}`) || folderMonth !== month || folderYear !== year) {
    return refuse(
      'bad-request',
      `ftpFilePath: expected a calendar day in the folder of its month, got: ${told}`,
    );
  }
  const inputName = `${name}.csv`;
  const resultName = `${name}_Result.csv`;
  const realRoot = await realpath(root);
  const input = join(realRoot, inputName);
  if (!(await isPlainFile(input))) {
    return refuse('bad-request', `ftpFilePath: there is no file ${told} on the SFTP server`);
  }
  return { kind: 'found', input, result: join(realRoot, resultName), inputName, resultName };
}

/** True for a file that lies where its path says, by way of no link. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await realpath(path)) === path && (await stat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error && absences.includes(error.code)) return false;
    throw error;
  }
}

const absences: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];
