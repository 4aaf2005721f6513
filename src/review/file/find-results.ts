import { createHash } from 'node:crypto';
import { readStoredBatches } from '../../ledger/batches.js';
import { isSameSighting, type Sighting } from '../../ledger/run.js';
import { type DownloadOptions, type RemoteFile, SftpError, type SftpSession } from '../../sftp/sftp.js';
import type { FileAttempt } from './file-attempt.js';
import { startJoin } from './match-result.js';
import { createResultNameTest, expectFewResults, limitReceived, limitRows } from './remote-files.js';
import { earlierName, resultName } from './spooled-files.js';

/** Files in the day's folder that are named like its result and not known to belong to another run, newest first. */
export async function findResults(attempt: FileAttempt, session: SftpSession) {
  const { remote, day, run, resultPattern } = attempt;
  const isResult = createResultNameTest(resultPattern, day);
  /** How many are skipped because their name can't be used. */
  let unusableNames = 0;
  const onUnusableName = (name: string) => {
    if (isResult(name)) unusableNames += 1;
  };
  const files = await session.list(remote.folder, { onUnusableName });
  const named = files.filter(({ name }) => isResult(name));
  expectFewResults(Math.max(named.length, run.file?.notOurs?.length ?? 0), remote.folder);
  const results: Sighting[] = [];
  for (const file of named) if (!(await isNotOurs(attempt, session, file))) results.push(file);
  results.sort((one, other) => (other.modifiedAt ?? 0) - (one.modifiedAt ?? 0));
  return { results, unusableNames };
}

/** Where the server keeps no times, only its content tells a new result from an equally large one that had to stay. */
async function isNotOurs(attempt: FileAttempt, session: SftpSession, file: RemoteFile): Promise<boolean> {
  const { remote, run, spool } = attempt;
  const known = (run.file?.notOurs ?? []).filter(
    ({ name, size }) => name === file.name && size === file.size,
  );
  if (known.some((other) => isSameSighting(file, other))) return true;
  if (known.length === 0) return false;
  if ((await session.examineTime(`${remote.folder}/${file.name}`)) === 'kept') return false;
  const sha256 = await fetchAside(attempt, session, file.name);
  await spool.remove([earlierName(run)]);
  return known.some((other) => other.sha256 === sha256);
}

/** Downloads a file of the day's folder, to be compared or archived as it is. @returns its checksum */
export async function fetchAside(
  { spool, run, remote }: FileAttempt,
  session: SftpSession,
  name: string,
  options: DownloadOptions = { limit: limitReceived(run.file) },
): Promise<string> {
  const spooled = earlierName(run);
  await session.download(`${remote.folder}/${name}`, await spool.locate(spooled), options);
  return (await spool.measure(spooled))?.sha256 ?? '';
}

/**
 * Downloads a result to the spool and joins it with the bookings that were sent while it arrives; undefined if it changes
 * or disappears meanwhile.
 */
export async function fetchResult(attempt: FileAttempt, session: SftpSession, seen: Sighting) {
  const { ledger, spool, run, remote } = attempt;
  const sources = {
    readSent: () => readStoredBatches(ledger, run, 'file'),
    readBytes: () => spool.read(resultName(run)),
  };
  const join = startJoin(sources, { ...attempt, onRows: limitRows(run.file) });
  const hash = createHash('sha256');
  try {
    const localPath = await spool.locate(resultName(run));
    const received = await session.download(`${remote.folder}/${seen.name}`, localPath, {
      limit: limitReceived(run.file),
      async onBytes(piece) {
        hash.update(piece);
        await join.take(piece);
      },
    });
    // What was read did not change meanwhile, whatever its time was in the listing.
    if (received.size !== seen.size) return undefined;
    // The checksum of the bytes that were judged.
    return { ...(await join.end()), sha256: hash.digest('hex') };
  } catch (error) {
    const isMoving =
      error instanceof SftpError && (error.code === 'changed-while-reading' || error.code === 'no-such-file');
    if (isMoving) return undefined;
    throw error;
  }
}
