import { createBusinessDay } from '../../booking/business-day.js';
import type { PlannedStep } from '../../ledger/step.js';
import type { Delivery } from '../delivery.js';
import { archiveRun } from './archive-run.js';
import { awaitResult } from './await-result.js';
import { ChangedFileError, type FileAttempt, type FileParts, removeSpooled } from './file-attempt.js';
import { triggerReview, uploadReviewFile, writeReviewFile } from './publish-file.js';
import { locateRemoteFiles } from './remote-files.js';
import { createFileForms } from './review-line.js';

export interface FileDeliveryParts extends FileParts {
  /** Posts the bookings that can't be in the file. */
  readonly body: Delivery;
  /** The account's time zone. */
  readonly timezone: string;
}

/**
 * Delivers a day as a CSV file on an SFTP server; bookings that can't be in the file are posted by body. (Spec 4.3;
 * design 5.)
 */
export function createFileDelivery(parts: FileDeliveryParts): Delivery {
  const { body, incomplete, timezone } = parts;
  return {
    ...createFileForms({ body, incomplete }),
    plan: (bookings) => [...planFile(bookings.file), ...body.plan(bookings)],
    async perform(claim, signal) {
      const { run } = claim;
      const { kind } = claim.step;
      if (kind === 'batch' || kind === 'canary') return body.perform(claim, signal);
      const day = createBusinessDay(run.day, timezone);
      const attempt = { ...parts, claim, run, day, remote: locateRemoteFiles(day), signal };
      try {
        return await steps[kind](attempt);
      } catch (error) {
        if (!(error instanceof ChangedFileError)) throw error;
        return { kind: 'fatal', evidence: { code: 'review-file-changed' }, advice: error.message };
      } finally {
        await removeSpooledTooLate(attempt);
      }
    },
  };
}

const steps = {
  write: writeReviewFile,
  upload: uploadReviewFile,
  trigger: triggerReview,
  'await-result': awaitResult,
  archive: archiveRun,
};

/** No steps without bookings for the file. */
function planFile(bookings: number): PlannedStep[] {
  if (bookings === 0) return [];
  return [
    { name: 'write', kind: 'write', bookings: 0 },
    { name: 'upload', kind: 'upload', after: 'write', bookings: 0 },
    // A booking counts as delivered once the by-file call is accepted.
    { name: 'trigger', kind: 'trigger', after: 'upload', bookings },
    { name: 'await-result', kind: 'await-result', after: 'trigger', bookings: 0 },
    { name: 'archive', kind: 'archive', after: 'await-result', bookings: 0 },
  ];
}

/**
 * Call this after a step. If the run was taken over and ended meanwhile, nobody else would remove what this step
 * spooled since, including guest names. While the new owner is still working, the files are its own to remove.
 */
async function removeSpooledTooLate({ ledger, spool, claim, run }: FileAttempt): Promise<void> {
  if (await ledger.steps.holdsClaim(claim)) return;
  const { state } = await ledger.runs.get(run.id);
  if (state !== 'succeeded' && state !== 'cancelled') return;
  await removeSpooled(spool, run.id);
}
