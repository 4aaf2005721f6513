import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCalendarDay } from '../../booking/business-day.js';
import { deliverLater } from '../parts/deliver-later.js';
import { nameReason, Refusal } from '../common/errors.js';
import type { SandboxParts } from '../parts/parts.js';
import { publish } from '../common/publish.js';
import { countOf } from '../common/tell.js';
import { BrokenFile, type Findings, reviewFile } from './review-file.js';

/** As observed in a live deployment. (Design 6.) */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

/**
 * Creates the by-file operation of the service (spec 4.3), which reads the SFTP server's files on this disk: reads and verifies the
 * file before it responds; the result follows after the delay, then the e-mail. Later changes to the file have no effect.
 *
 * Each accepted call gets its own result, which replaces the one before.
 */
export function createFileReview(parts: SandboxParts) {
  const { root, drafts, world, faults, outbox, signal } = parts;
  let draftCount = 0;

  async function reviewInto(path: ReviewPath, draft: string): Promise<number> {
    try {
      const findings = await reviewFile(path.input, draft, world, signal);
      if (findings.rows === 0)
        throw refuse('hotels-missing', `${path.inputName}: only a header, no booked hotels`);
      schedule(findings, path, draft);
      return findings.rows;
    } catch (error) {
      await rm(draft, { force: true });
      if (error instanceof BrokenFile) throw refuse('bad-hotel-data', `${path.inputName}, ${error.message}`);
      throw error;
    }
  }

  /** @param draft the complete result */
  function schedule(
    { rows, incorrectRows: count, incorrect }: Findings,
    path: ReviewPath,
    draft: string,
  ): void {
    const fault = faults.nextResult();
    const delivery = {
      ...{ name: path.resultName, drafts: [draft], fault },
      async write() {
        const published = await publish(draft, path.result, rows, fault);
        return fault?.kind === 'result-partial'
          ? `only ${published} of ${countOf(rows, 'row')} (fault)`
          : `${countOf(rows, 'row')}, ${count} wrongly mapped`;
      },
      notify: async () =>
        count === 0 ? undefined : outbox.notify({ about: path.inputName, incorrect, count }),
    };
    deliverLater(delivery, parts);
  }

  /**
   * @param ftpFilePath as the call names it
   * @returns the number of the file's rows
   * @throws Refusal, and nothing else
   */
  return async (ftpFilePath: string | undefined): Promise<number> => {
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
