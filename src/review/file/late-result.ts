import { createHash } from 'node:crypto';
import { hasPassed } from '../../base/elapsed.js';
import type { ReviewFile } from '../../rules/review-file.js';
import { isSameSighting, type Run } from '../../rules/run.js';
import { lacksResult } from '../../rules/try-again.js';
import type { RemoteFile, SftpSession } from '../../transports/sftp/sftp.js';
import { type ServerLook, useSession } from './file-attempt.js';
import { pauseBeforeLook } from './judge-result.js';
import { createResultNameTest, limitReceived, locateRemoteFiles } from './remote-files.js';

/** A result that comes after its time, or after one that did not suffice. */

const dayMs = 86_400_000;
const longestPauseMs = 3_600_000;

/**
 * Whether a result of this run is still looked for: it was called for, none sufficed yet, and the guests' names, without which nobody can
 * act on a verdict, are still kept.
 */
export function isResultLookedFor(
  run: Run,
  { now, guestNameDays }: { readonly now: number; readonly guestNameDays: number },
): boolean {
  const calledAt = run.file?.triggeredAt;
  return lacksResult(run) && calledAt !== undefined && now < calledAt + guestNameDays * dayMs;
}

/** Whether to look again: after half of the time between the by-file call and the last look, at most an hour. At once without one. */
export function isLateLookDue({ file }: Run, lookedAt: number | undefined, now: number): boolean {
  const pause = pauseBeforeLook((lookedAt ?? 0) - (file?.triggeredAt ?? 0), longestPauseMs);
  return hasPassed(pause, { since: lookedAt, now });
}

/**
 * Whether the server holds a result with other bytes than those that were judged. It lists the folder and, where the server's times tell
 * nothing, reads what has the same name and size; it writes nothing anywhere, and needs no right to the run. @throws SftpError
 */
export function hasNewResult(look: ServerLook): Promise<boolean> {
  const { run, day, resultPattern } = look;
  const { folder } = locateRemoteFiles(day);
  const isResult = createResultNameTest(resultPattern, day);
  return useSession(look, async (session) => {
    const files = await session.list(folder);
    for (const file of files)
      if (isResult(file.name) && !(await isKnownResult(session, folder, file, run))) return true;
    return false;
  });
}

async function isKnownResult(
  session: SftpSession,
  folder: string,
  file: RemoteFile,
  run: Run,
): Promise<boolean> {
  const judged = listJudged(run);
  if (judged.some((one) => isSameSighting(file, one))) return true;
  const alike = judged.filter(({ name, size }) => name === file.name && size === file.size);
  if (alike.length === 0 || file.size > limitReceived(run.file).bytes) return false;
  const sha256 = await hashRemote(session, `${folder}/${file.name}`, file.size);
  return alike.some((one) => one.sha256 === sha256);
}

/** The results whose bytes are judged: those of others, and the one because of which the run failed. */
function listJudged({ state, file }: Run): ReviewFile['notOurs'] {
  const { notOurs = [], growing } = file ?? {};
  return state === 'failed' && growing ? [...notOurs, ...growing.files] : notOurs;
}

const pieceBytes = 1_000_000;

async function hashRemote(session: SftpSession, path: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < size; from += pieceBytes)
    hash.update(await session.readRange(path, { from, to: Math.min(from + pieceBytes, size) }));
  return hash.digest('hex');
}
