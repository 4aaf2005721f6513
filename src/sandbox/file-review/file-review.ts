import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultPlan } from '../faults.js';
import { nameReason } from '../name-reason.js';
import type { Outbox } from '../outbox.js';
import type { HotelDirectory } from '../world.js';
import { BrokenFile } from './broken-file.js';
import { createDueResults } from './due-results.js';
import { type FileAnswer, refuse } from './file-answer.js';
import type { FileReviewEvent } from './file-review-event.js';
import { findReviewFile, type ReviewPath } from './review-path.js';
import { reviewFile } from './reviewed-file.js';

export type { FileAnswer } from './file-answer.js';
export type { FileReviewEvent } from './file-review-event.js';

/** The by-file half of the service: it looks at the SFTP server's files on this disk. (Spec 4.3.) */
export interface FileReview {
  /**
   * Reads and verifies the file at once and answers; the result comes after the delay, and the letter after it. What
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
