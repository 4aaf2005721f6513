import type { RemoteFile, SftpSession } from '../../sftp/sftp.js';
import { isSameSighting, type Sighting } from '../review-file.js';
import type { FileAttempt, FileParts } from './file-attempt.js';
import { limitReceived } from './received-size.js';
import { createResultNameTest, expectFewResults } from './remote-files.js';
import { earlierName, hashSpooled } from './spooled-files.js';

interface FoundResults {
  /** Newest first. */
  readonly results: readonly Sighting[];
  /** Named like a result, but with a name that can't be used: such files are skipped. */
  readonly unusableNames: number;
}

/** Files in the day's folder that are named like its result and not known to belong to another run. */
export async function findResults(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<FoundResults> {
  const { remote, day, run } = attempt;
  const isResult = createResultNameTest(parts.resultPattern, day);
  let unusableNames = 0;
  const onUnusableName = (name: string) => {
    if (isResult(name)) unusableNames += 1;
  };
  const files = await session.list(remote.folder, { onUnusableName });
  const named = files.filter(({ name }) => isResult(name));
  expectFewResults(Math.max(named.length, run.file?.notOurs?.length ?? 0), remote.folder);
  const results: Sighting[] = [];
  for (const file of named) if (!(await isNotOurs(parts, attempt, session, file))) results.push(file);
  results.sort((one, other) => (other.modifiedAt ?? 0) - (one.modifiedAt ?? 0));
  return { results, unusableNames };
}

/** Where the server keeps no times, only its content tells a new result from an equally large one that had to stay. */
async function isNotOurs(
  { spool }: FileParts,
  { remote, run }: FileAttempt,
  session: SftpSession,
  file: RemoteFile,
): Promise<boolean> {
  const known = (run.file?.notOurs ?? []).filter(
    ({ name, size }) => name === file.name && size === file.size,
  );
  if (known.some((other) => isSameSighting(file, other))) return true;
  if (known.length === 0) return false;
  const path = `${remote.folder}/${file.name}`;
  if ((await session.examineTime(path)) === 'kept') return false;
  const spooled = earlierName(run);
  const limit = limitReceived(run.file);
  await session.download(path, await spool.locate(spooled), { limit });
  const sha256 = await hashSpooled(spool, spooled);
  await spool.remove([spooled]);
  return known.some((other) => other.sha256 === sha256);
}
