import type { StepOutcome } from '../../delivery.js';
import { checkReviewFile } from '../file-check.js';
import { explained } from '../file-outcome.js';
import type { FileAttempt, FileParts } from '../file-parts.js';
import { reviewName, spoolReviewFile } from '../spooled-file.js';

/** `write`: the review file into the spool, checked byte by byte against the file rules before it leaves. (Spec 4.3.) */
export async function writeReviewFile(parts: FileParts, { run }: FileAttempt): Promise<StepOutcome> {
  return explained(async () => {
    const { spool, ledger, masterIdColumn } = parts;
    await removeOthersOfDay(parts, run.id);
    const { bytes, sha256 } = await spoolReviewFile(parts, run);
    const { bookings: rows } = await ledger.measureBatches(run.id, 'file');
    const fault = await checkReviewFile(spool.read(reviewName(run)), { masterIdColumn, rows, sha256 });
    if (fault) {
      const { code, row, column } = fault;
      const place = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
      return {
        kind: 'fatal',
        evidence: { code: `review-file-${code}` },
        advice: `the written file breaks the file rules at ${place}; nothing was sent: please report this with the ledger kept`,
      };
    }
    return { kind: 'done', evidence: { code: 'ok', sha256 }, file: { rows, bytes, sha256 } };
  });
}

/** What a given-up run of the day left in the spool: a run's name begins with its day. */
async function removeOthersOfDay({ spool }: FileParts, runId: string): Promise<void> {
  const [day] = runId.split('-');
  const names = await spool.list();
  await spool.remove(names.filter((name) => name.startsWith(`${day}-`) && !name.startsWith(runId)));
}
