import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCalendarDay } from '../../booking/business-day.js';
import { deliverLater } from '../common/deliver-later.js';
import { nameReason, Refusal } from '../common/errors.js';
import type { FaultPlan, ResultFault } from '../common/faults.js';
import { publish } from '../common/publish.js';
import { countOf, type Tell } from '../common/tell.js';
import type { Outbox } from '../outbox/outbox.js';
import type { World } from '../world/world.js';
import { BrokenFile, type Findings, reviewFile } from './review-file.js';

/** The by-file operation of the service. It reads the SFTP server's files on this disk. (Spec 4.3.) */
export interface FileReview {
  /**
   * Reads and verifies the file before it responds; the result follows after the delay, then the e-mail. Later changes to
   * the file have no effect.
   *
   * Each accepted call gets its own result, which replaces the one before.
   *
   * @param ftpFilePath as the call names it
   * @returns the number of its rows
   * @throws Refusal, and nothing else
   */
  accept(ftpFilePath: string | undefined): Promise<number>;
  /** Abandons pending results and waits for those being written. Idempotent. */
  close(): Promise<void>;
}

interface FileReviewOptions {
  /** The SFTP root on this disk. */
  readonly root: string;
  /** A folder outside the SFTP root but on its disk, for drafts. Created when needed, removed by `close`. */
  readonly drafts: string;
  readonly world: World;
  readonly resultDelayMs: number;
  /** Asked once per accepted file. */
  readonly faults: Pick<FaultPlan, 'nextResult'>;
  readonly outbox: Outbox;
  /** Files are named as SFTP clients see them: `VerifyMappings/112026/20112026_Result.csv` */
  readonly tell: Tell;
}

/** As observed in a live deployment. (Design 6.) */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

/** An accepted file whose result is due. */
interface AcceptedFile extends Findings {
  readonly path: ReviewPath;
  /** The complete result. It is removed or moved away in the end. */
  readonly draft: string;
  readonly fault: ResultFault | undefined;
}

export function createFileReview(options: FileReviewOptions): FileReview {
  const { root, drafts, world, resultDelayMs, faults, outbox, tell } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const calls = new Set<Promise<number>>();
  const pending = new Set<Promise<void>>();
  let draftCount = 0;

  async function review(ftpFilePath: string | undefined): Promise<number> {
    try {
      signal.throwIfAborted();
      const path = await findReviewFile(root, ftpFilePath);
      await mkdir(drafts, { recursive: true, mode: 0o700 });
      draftCount += 1;
      return await reviewInto(path, join(drafts, `${draftCount}.csv`));
    } catch (error) {
      if (signal.aborted) throw refuse('internal', 'the service is being stopped');
      if (error instanceof Refusal) throw error;
      throw refuse('internal', `the file can't be reviewed now (${nameReason(error)})`);
    }
  }

  async function reviewInto(path: ReviewPath, draft: string): Promise<number> {
    try {
      const findings = await reviewFile(path.input, draft, world, signal);
      if (findings.rows === 0)
        throw refuse('hotels-missing', `${path.inputName}: only a header, no booked hotels`);
      schedule({ ...findings, path, draft, fault: faults.nextResult() });
      return findings.rows;
    } catch (error) {
      await rm(draft, { force: true });
      if (error instanceof BrokenFile) throw refuse('bad-hotel-data', `${path.inputName}, ${error.message}`);
      throw error;
    }
  }

  /** Writes the result after the delay. */
  function schedule(file: AcceptedFile): void {
    const performed = perform(file).finally(() => pending.delete(performed));
    pending.add(performed);
  }

  async function perform(file: AcceptedFile): Promise<void> {
    const { path, draft, fault, rows, incorrectRows: count, incorrect } = file;
    await deliverLater({
      ...{ name: path.resultName, delayMs: resultDelayMs, fault, signal, tell },
      async write() {
        const published = await publish(draft, path.result, rows, fault);
        return fault?.kind === 'result-partial'
          ? `only ${published} of ${countOf(rows, 'row')} (fault)`
          : `${countOf(rows, 'row')}, ${count} wrongly mapped`;
      },
      notify: async () =>
        count === 0 ? undefined : outbox.notify({ about: path.inputName, incorrect, count }),
    });
    await rm(draft, { force: true });
  }

  return {
    async accept(ftpFilePath) {
      const answered = review(ftpFilePath);
      calls.add(answered);
      return answered.finally(() => calls.delete(answered));
    },
    async close() {
      closing.abort();
      await Promise.allSettled(calls);
      await Promise.all(pending);
      await rm(drafts, { recursive: true, force: true });
    },
  };
}

function refuse(reason: keyof typeof statusCodes, message: string): Refusal {
  return new Refusal(statusCodes[reason], message);
}

/** A review file, and where its result belongs. */
interface ReviewPath {
  /** On this disk. */
  readonly input: string;
  readonly result: string;
  /** As SFTP clients name them, without a leading slash. */
  readonly inputName: string;
  readonly resultName: string;
}

const pathForm = 'VerifyMappings/MMYYYY/DDMMYYYY.csv';
const pathPattern = /^\/?(VerifyMappings\/(\d{2})(\d{4})\/(\d{2})(\d{2})(\d{4}))\.csv$/;
const maxQuotedPath = 200;

/**
 * Finds the file that a call names: a path relative to the SFTP root, with at most one leading slash. Never looks outside
 * the root.
 */
async function findReviewFile(root: string, ftpFilePath: string | undefined): Promise<ReviewPath> {
  if (ftpFilePath === undefined || ftpFilePath.trim() === '')
    throw refuse('path-missing', 'ftpFilePath is missing: expected the path of the uploaded file');
  const quoted = JSON.stringify(ftpFilePath.slice(0, maxQuotedPath));
  const [, name, folderMonth, folderYear, dayOfMonth, month, year] = pathPattern.exec(ftpFilePath) ?? [];
  if (name === undefined)
    throw refuse(
      'bad-request',
      `ftpFilePath: expected ${pathForm}, relative to the SFTP root, got: ${quoted}`,
    );
  if (!isCalendarDay(`${year}-${month}-${dayOfMonth}`) || folderMonth !== month || folderYear !== year)
    throw refuse(
      'bad-request',
      `ftpFilePath: expected a calendar day in the folder of its month, got: ${quoted}`,
    );
  const inputName = `${name}.csv`;
  const resultName = `${name}_Result.csv`;
  const input = join(root, inputName);
  const found = await stat(input).catch(() => undefined);
  if (!found?.isFile())
    throw refuse('bad-request', `ftpFilePath: there is no file ${quoted} on the SFTP server`);
  return { input, result: join(root, resultName), inputName, resultName };
}
