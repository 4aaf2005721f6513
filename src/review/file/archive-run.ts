import type { SftpSession } from '../../sftp/sftp.js';
import type { StepOutcome } from '../delivery.js';
import { isSameSighting, type ReceivedResult, type ResultCounts } from '../review-file.js';
import type { JudgedPlaces } from '../verdict.js';
import { type FileAttempt, type FileParts, inSession } from './file-attempt.js';
import { keepManifest } from './manifest.js';
import type { JoinedResult } from './result-join.js';
import {
  ensureSpooled,
  hashSpooled,
  joinSpooledResult,
  removeSpooled,
  resultName,
  reviewName,
} from './spooled-files.js';

/**
 * `archive`: archives the file as sent and the result as received, writes the manifest, says which bookings are affected,
 * and empties the spool.
 */
export async function archiveRun(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { archive, spool, sftp } = parts;
  const { run, day, remote, signal } = attempt;
  return inSession(sftp, signal, async (session) => {
    const result = await fetchRecordedResult(parts, attempt, session);
    await ensureSpooled(parts, run);
    await archive.keep(day.iso, run.id, remote.name, spool.read(reviewName(run)));
    await archive.keep(day.iso, run.id, result.name, spool.read(resultName(run)));
    const joined = await joinSpooledResult(parts, run);
    const affected: JudgedPlaces[] = [];
    for await (const ofBatch of joined.findAffected()) affected.push(ofBatch);
    const { rows, isWhole } = joined.end;
    const file = {
      ...run.file,
      result: { ...result, rows, isWhole: isWhole && rows === joined.sent },
      verdicts: countVerdicts(joined, affected),
      archivedTo: archive.locate(day.iso, run.id),
    };
    await keepManifest(parts, attempt, file);
    await removeSpooled(spool, run.id);
    return { kind: 'done', evidence: { code: 'ok', sha256: result.sha256 }, file, verdicts: affected };
  });
}

/**
 * Gets the result that was judged complete into the spool. Its size and time are compared again; if it has changed
 * since, the current one is taken. An earlier, interrupted attempt may already have archived it.
 */
async function fetchRecordedResult(
  { spool, archive }: FileParts,
  { run, day, remote }: FileAttempt,
  session: SftpSession,
): Promise<ReceivedResult> {
  const result = run.file?.result;
  if (!result) throw new TypeError(`expected a result of run ${run.id}, got: none`);
  const path = `${remote.folder}/${result.name}`;
  const found = await session.stat(path);
  if (found === undefined || isSameSighting(found, result)) {
    if ((await hashSpooled(spool, resultName(run))) === result.sha256) return result;
    const isArchived = (await archive.list(day.iso, run.id)).includes(result.name);
    if (isArchived) {
      const kept = await spool.write(resultName(run), archive.read(day.iso, run.id, result.name));
      if (kept.sha256 === result.sha256) return result;
    }
  }
  const received = await session.download(path, await spool.locate(resultName(run)));
  const sha256 = (await hashSpooled(spool, resultName(run))) ?? '';
  return { ...result, ...received, sha256 };
}

function countVerdicts(
  { unanswered, unclear, end }: JoinedResult,
  affected: readonly JudgedPlaces[],
): ResultCounts {
  const count = affected.reduce((sum, { places }) => sum + places.length, 0);
  return { affected: count, unanswered, unclear, malformed: end.malformed };
}
