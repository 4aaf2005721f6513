import { createBusinessDay } from '../../booking/business-day.js';
import type { Delivery, StepOutcome } from '../delivery.js';
import type { PlannedStep, StepKind } from '../step.js';
import { removeSpooledTooLate } from './fencing.js';
import { createFileForms } from './file-forms.js';
import type { FileAttempt, FileParts } from './file-parts.js';
import { layOutRemotely } from './remote-layout.js';
import { ChangedFileError } from './spooled-file.js';
import { archiveRun } from './steps/archive.js';
import { awaitResult } from './steps/await-result.js';
import { triggerReview } from './steps/trigger.js';
import { uploadReviewFile } from './steps/upload.js';
import { writeReviewFile } from './steps/write.js';

export interface FileDeliveryParts extends FileParts {
  /** Posts what can't stand in the file. */
  readonly body: Delivery;
  readonly incomplete: 'post' | 'reject';
  /** The account's time zone. */
  readonly timezone: string;
}

/** Delivers a day as a CSV on an SFTP server, and by body what can't stand in it. (Spec 4.3; design 5.) */
export function createFileDelivery(parts: FileDeliveryParts): Delivery {
  const { body, incomplete, timezone } = parts;
  return {
    ...createFileForms({ body, incomplete }),
    plan: (bookings) => [...planFile(bookings.file), ...body.plan(bookings)],
    async perform(claim, { run, lines, signal }) {
      if (claim.step.kind === 'batch') return body.perform(claim, { run, lines, signal });
      const day = createBusinessDay(run.day, timezone);
      const attempt = { claim, run, day, remote: layOutRemotely(day), signal };
      try {
        return await performStep(claim.step.kind, parts, attempt);
      } catch (error) {
        if (!(error instanceof ChangedFileError)) throw error;
        return { kind: 'fatal', evidence: { code: 'review-file-changed' }, advice: error.message };
      } finally {
        await removeSpooledTooLate(parts, attempt);
      }
    },
  };
}

function performStep(
  kind: Exclude<StepKind, 'batch'>,
  parts: FileParts,
  attempt: FileAttempt,
): Promise<StepOutcome> {
  switch (kind) {
    case 'write':
      return writeReviewFile(parts, attempt);
    case 'upload':
      return uploadReviewFile(parts, attempt);
    case 'trigger':
      return triggerReview(parts, attempt);
    case 'await-result':
      return awaitResult(parts, attempt);
    case 'archive':
      return archiveRun(parts, attempt);
  }
}

/** No step where there is no booking for the file. */
function planFile(bookings: number): PlannedStep[] {
  if (bookings === 0) return [];
  return [
    { name: 'write', kind: 'write', bookings: 0 },
    { name: 'upload', kind: 'upload', after: 'write', bookings: 0 },
    // A booking counts as delivered when the by-file call was accepted.
    { name: 'trigger', kind: 'trigger', after: 'upload', bookings },
    { name: 'await-result', kind: 'await-result', after: 'trigger', bookings: 0 },
    { name: 'archive', kind: 'archive', after: 'await-result', bookings: 0 },
  ];
}
