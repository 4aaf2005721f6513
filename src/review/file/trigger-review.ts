import { isSameSighting, type ReviewFile, type Run } from '../../ledger/run.js';
import type { SftpSession } from '../../sftp/sftp.js';
import { type StepOutcome, toServiceOutcome } from '../delivery.js';
import { expectClaim, type FileAttempt, type FileParts, inSession } from './file-attempt.js';
import { fetchAside, fetchResult, findResults } from './find-results.js';
import { publishReviewFile, removeLeftovers } from './publish-file.js';
import { earlierName } from './spooled-files.js';

/** How many of the latest runs are searched for an accepted call. */
const runsConsulted = 200;

/**
 * `trigger`: checks that the file on the server is the one that was uploaded, then makes the by-file call. If an
 * earlier call may have succeeded, its result may be there already, and no further call is needed. (Spec 4.3, step
 * 3.) A 500, 503 or 504 is such a call: the specification does not say that the service has done nothing.
 */
export async function triggerReview(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { service, pathPrefix, clock } = parts;
  const { claim, run, remote, signal } = attempt;
  const sha256 = run.file?.sha256 ?? '';
  const looked = await inSession(parts, signal, async (session) => {
    // If this step had to publish the file again, an attempt at that may have been interrupted.
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
  const path = `${pathPrefix}${remote.path}`;
  const verdict = await service.reviewBookedHotelsByFile(path, { signal });
  const outcome = await adviseOnPath(toServiceOutcome(verdict, sha256), path, parts, run);
  return { ...outcome, file: { ...looked.file, ...(outcome.kind === 'done' && { triggeredAt: clock() }) } };
}

/** A 404 of the by-file call can mean the address or the file. Calls that were accepted before rule out the address. */
async function adviseOnPath(
  outcome: StepOutcome,
  path: string,
  { ledger }: Pick<FileParts, 'ledger'>,
  run: Run,
): Promise<StepOutcome> {
  if (outcome.kind !== 'fatal' || outcome.evidence.httpStatus !== 404) return outcome;
  const advice = 'check file.sftp.root and file.ftpFilePathPrefix';
  const wasAccepted = [run, ...(await ledger.runs.list({ limit: runsConsulted }))].some(
    ({ counts }) => counts.delivered > 0,
  );
  return {
    ...outcome,
    advice: wasAccepted
      ? `the service has accepted earlier calls, so address and key are right, but it does not find the file ${path}: ${advice}`
      : `if service.baseUrl is right, the service does not find the file ${path}: ${advice}`,
  };
}

/**
 * Whether a result names bookings that were sent and no others. Another file's result, or one that says nothing,
 * doesn't prove that the service received the call.
 */
async function isAnswered(parts: FileParts, attempt: FileAttempt, session: SftpSession): Promise<boolean> {
  const { results } = await findResults(parts, attempt, session);
  for (const seen of results) {
    const joined = await fetchResult(parts, attempt, session, seen);
    if (joined && joined.foreign === 0 && joined.unanswered < joined.sent) return true;
  }
  return false;
}

/**
 * The file may have been removed or replaced since. On a server that takes files away at once there is nothing to
 * compare.
 */
async function ensurePublished(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<Partial<ReviewFile>> {
  const { remote, run } = attempt;
  const { uploaded, bytes, sha256 } = run.file ?? {};
  if (!uploaded) return {};
  const found = await session.stat(remote.path);
  if (found && isSameSighting(found, uploaded)) return {};
  if (found && found.size === bytes) {
    const foundSha256 = await fetchAside(parts, attempt, session, remote.name);
    await parts.spool.remove([earlierName(run)]);
    if (foundSha256 === sha256) return { uploaded: found };
  }
  return publishReviewFile(parts, attempt, session);
}
