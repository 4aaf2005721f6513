import type { SftpSession } from '../../sftp/sftp.js';
import type { StepOutcome } from '../delivery.js';
import { isSameSighting, type ReviewFile } from '../review-file.js';
import { toServiceOutcome } from '../service-outcome.js';
import { expectClaim, type FileAttempt, type FileParts, inSession } from './file-attempt.js';
import { publishReviewFile, removeLeftovers } from './publish-file.js';
import { findResults } from './remote-files.js';
import { earlierName, fetchResult, hashSpooled } from './spooled-files.js';

/**
 * `trigger`: looks again that the file there is the one that was uploaded, and tells the service of it. Where an earlier
 * call may have been heard, its result may be there already: then there is nothing left to say. (Spec 4.3, step 3.)
 */
export async function triggerReview(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { service, sftp, pathPrefix, clock } = parts;
  const { claim, run, remote, signal } = attempt;
  const sha256 = run.file?.sha256 ?? '';
  const looked = await inSession(sftp, signal, async (session) => {
    // Where the file had to be published again, an attempt of this very step may have been cut off.
    await removeLeftovers(parts, attempt, session);
    if (claim.mayRepeat && (await isAnswered(parts, attempt, session)))
      return {
        kind: 'done',
        evidence: { code: 'result-found', sha256 },
        file: { triggeredAt: clock() },
        nothingSent: true,
      };
    return { kind: 'done', evidence: { code: 'ok' }, file: await ensurePublished(parts, attempt, session) };
  });
  if (looked.kind !== 'done') return { ...looked, nothingSent: true };
  if (looked.nothingSent) return looked;

  await expectClaim(parts, attempt);
  const verdict = await service.reviewBookedHotelsByFile(`${pathPrefix}${remote.path}`, { signal });
  const outcome = toServiceOutcome(verdict, sha256);
  return { ...outcome, file: { ...looked.file, ...(outcome.kind === 'done' && { triggeredAt: clock() }) } };
}

/**
 * Whether a result there speaks of the bookings that were sent, and of no others: one of somebody else, or one that says
 * nothing, doesn't prove that the service has heard the call.
 */
async function isAnswered(parts: FileParts, attempt: FileAttempt, session: SftpSession): Promise<boolean> {
  for (const seen of await findResults(parts, attempt, session)) {
    const joined = await fetchResult(parts, attempt, session, seen);
    if (joined && joined.foreign === 0 && joined.unanswered < joined.sent) return true;
  }
  return false;
}

/** Somebody may have removed or replaced the file since; a server that takes files away at once shows none. */
async function ensurePublished(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<Partial<ReviewFile>> {
  const { remote, run } = attempt;
  const { uploaded, bytes } = run.file ?? {};
  if (!uploaded) return {};
  const found = await session.stat(remote.path);
  if (found && isSameSighting(found, uploaded)) return {};
  if (found && found.size === bytes && (await isReviewFile(parts, attempt, session)))
    return { uploaded: found };
  return publishReviewFile(parts, attempt, session);
}

async function isReviewFile(
  { spool }: FileParts,
  { remote, run }: FileAttempt,
  session: SftpSession,
): Promise<boolean> {
  const spooled = earlierName(run);
  await session.download(remote.path, await spool.locate(spooled));
  const sha256 = await hashSpooled(spool, spooled);
  await spool.remove([spooled]);
  return sha256 === run.file?.sha256;
}
