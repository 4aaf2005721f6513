import { SftpError, type SftpSession } from '../../sftp/sftp.js';
import { isSameSighting, type Sighting } from '../review-file.js';
import type { Run } from '../run.js';
import type { FileAttempt, FileParts } from './file-parts.js';
import { type JoinedResult, joinResult } from './result-join.js';
import { readSentBatches, resultName } from './spooled-file.js';

/** Reads the result that lies in the spool and joins it with the bookings that were sent. */
export function joinSpooledResult(parts: FileParts, run: Run): Promise<JoinedResult> {
  const { spool, masterIdColumn } = parts;
  const readBytes = () => spool.read(resultName(run));
  return joinResult({ readBytes, readSent: () => readSentBatches(parts, run) }, { masterIdColumn });
}

/** Brings a result into the spool and reads it; undefined for one that changes meanwhile, or is gone again. */
export async function fetchResult(
  parts: FileParts,
  { run, remote }: FileAttempt,
  session: SftpSession,
  seen: Sighting,
): Promise<JoinedResult | undefined> {
  try {
    const localPath = await parts.spool.locate(resultName(run));
    const received = await session.download(`${remote.folder}/${seen.name}`, localPath);
    return isSameSighting(received, seen) ? await joinSpooledResult(parts, run) : undefined;
  } catch (error) {
    const isMoving =
      error instanceof SftpError && (error.code === 'changed-while-reading' || error.code === 'no-such-file');
    if (isMoving) return undefined;
    throw error;
  }
}
