import type { SftpSession } from '../../sftp/sftp.js';
import type { ReviewFile, Sighting } from '../review-file.js';
import { expectClaim } from './fencing.js';
import type { FileAttempt, FileParts } from './file-parts.js';
import { ensureSpooled, reviewName } from './spooled-file.js';

/** What attempts of the day that were cut off left on the server. */
export async function removeLeftovers(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<void> {
  const { folder, isLeftover } = attempt.remote;
  for (const { name } of await session.list(folder)) {
    if (!isLeftover(name)) continue;
    await expectClaim(parts, attempt);
    await session.remove(`${folder}/${name}`);
  }
}

/**
 * Brings the review file to the server under a temporary name and then, while the claim still holds, in one step to its
 * own: a file of that name is never a partial one.
 *
 * @throws FencedError, ChangedFileError
 */
export async function publishReviewFile(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<Pick<ReviewFile, 'remotePath'> & { readonly uploaded?: Sighting }> {
  const { spool, notify } = parts;
  const { claim, run, remote, signal } = attempt;
  await ensureSpooled(parts, run);
  signal.throwIfAborted();
  const temporary = remote.temporaryPath(run.id, claim.token, claim.attempt);
  try {
    await session.upload(await spool.locate(reviewName(run)), temporary, {
      onProgress: (done, total) => notify({ type: 'transferring', run, step: claim.step, done, total }),
    });
    await expectClaim(parts, attempt);
    await session.publish(temporary, remote.path, run.file?.bytes ?? 0);
  } catch (error) {
    // Where the connection is gone, the next attempt cleans up.
    await session.remove(temporary).catch(() => {});
    throw error;
  }
  const uploaded = await session.stat(remote.path);
  return { remotePath: remote.path, ...(uploaded && { uploaded }) };
}
