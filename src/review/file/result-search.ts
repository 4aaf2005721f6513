import type { SftpSession } from '../../sftp/sftp.js';
import { isSameSighting, type Sighting } from '../review-file.js';
import type { FileAttempt, FileParts } from './file-parts.js';
import { createResultNameTest } from './result-name.js';

/** What lies in the day's folder under a result's name and is not known to be another one's, newest first. */
export async function findResults(
  { resultPattern }: FileParts,
  { remote, day, run }: FileAttempt,
  session: SftpSession,
): Promise<readonly Sighting[]> {
  const isResult = createResultNameTest(resultPattern, day);
  const notOurs = run.file?.notOurs ?? [];
  const files = await session.list(remote.folder);
  return files
    .filter((file) => isResult(file.name) && !notOurs.some((other) => isSameSighting(file, other)))
    .sort((one, other) => other.modifiedAt - one.modifiedAt);
}
