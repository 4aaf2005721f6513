import type { ReviewFile } from '../../ledger/run.js';
import type { SftpSession } from '../../sftp/sftp.js';
import type { StepOutcome } from '../delivery.js';
import { convertFailures, expectClaim, type FileAttempt, type FileParts, inSession } from './file-attempt.js';
import { checkReviewFile } from './file-check.js';
import { fetchAside } from './find-results.js';
import { createResultNameTest, expectFewResults, limitEarlier } from './remote-files.js';
import { earlierName, ensureSpooled, reviewName, spoolReviewFile } from './spooled-files.js';

/**
 * `write`: writes the review file to the spool and checks it byte by byte against the file rules. (Spec 4.3.)
 */
export async function writeReviewFile(parts: FileParts, { run }: FileAttempt): Promise<StepOutcome> {
  return convertFailures(async () => {
    const { spool, ledger, masterIdColumn, incomplete } = parts;
    await removeOthersOfDay(parts, run.id);
    const { bytes, sha256 } = await spoolReviewFile(parts, run);
    const { bookings: rows } = await ledger.bookings.measureBatches(run.id, 'file');
    const mayBeEmpty = incomplete === 'leave-empty';
    const expected = { masterIdColumn, rows, sha256, mayBeEmpty };
    const fault = await checkReviewFile(spool.read(reviewName(run)), expected);
    if (fault) {
      const { code, row, column } = fault;
      const place = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
      // Collected with other settings than those it is resumed with.
      const isLeftEmpty = code === 'blank-cell' && !mayBeEmpty;
      return {
        kind: 'fatal',
        evidence: { code: `review-file-${code}` },
        advice: isLeftEmpty
          ? `the written file has an empty cell at ${place}; nothing was sent. If this day was collected with file.incomplete: leave-empty, set it again, or replay the day.`
          : `the written file breaks the file rules at ${place}; nothing was sent: please report this and keep the ledger`,
      };
    }
    return { kind: 'done', evidence: { code: 'ok', sha256 }, file: { rows, bytes, sha256 } };
  });
}

/** Removes what an abandoned run of the day left in the spool. A run's name begins with its day. */
async function removeOthersOfDay({ spool }: FileParts, runId: string): Promise<void> {
  const [day] = runId.split('-');
  const names = await spool.list();
  await spool.remove(names.filter((name) => name.startsWith(`${day}-`) && !name.startsWith(runId)));
}

/**
 * `upload`: archives what an earlier run left on the server, so that nothing is lost and an old result can't be
 * mistaken for the new one, then publishes the review file. (Spec 4.3, step 2.)
 */
export async function uploadReviewFile(parts: FileParts, attempt: FileAttempt): Promise<StepOutcome> {
  const { remote, signal, run } = attempt;
  return inSession(parts, signal, async (session) => {
    await session.makeFolder(remote.folder);
    await removeLeftovers(parts, attempt, session);
    const notOurs = await archiveEarlierFiles(parts, attempt, session);
    const published = await publishReviewFile(parts, attempt, session);
    return {
      kind: 'done',
      evidence: { code: 'ok', sha256: run.file?.sha256 },
      file: { ...published, notOurs },
    };
  });
}

/** Returns the results that could not be removed, so that `await-result` can ignore them. */
async function archiveEarlierFiles(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<ReviewFile['notOurs']> {
  const { remote, day } = attempt;
  const isResult = createResultNameTest(parts.resultPattern, day);
  const staying: ReviewFile['notOurs'][number][] = [];
  const files = await session.list(remote.folder);
  expectFewResults(files.filter(({ name }) => isResult(name)).length, remote.folder);
  for (const found of files) {
    const path = `${remote.folder}/${found.name}`;
    await expectClaim(parts, attempt);
    if (found.name === remote.name) await archiveEarlierFile(parts, attempt, session, found.name);
    else if (isResult(found.name)) {
      const sha256 = await archiveEarlierFile(parts, attempt, session, found.name);
      await expectClaim(parts, attempt);
      if ((await session.remove(path)) === 'denied') staying.push({ ...found, sha256 });
    }
  }
  return staying;
}

/** Archives a file under a name with its checksum, so that repeating it changes nothing. @returns the checksum */
async function archiveEarlierFile(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
  name: string,
): Promise<string> {
  const { spool, archive, notify } = parts;
  const { run, claim, day } = attempt;
  const sha256 = await fetchAside(parts, attempt, session, name, {
    limit: await limitEarlier(parts, day.iso),
    onProgress: (done, total) => notify({ type: 'transferring', run, step: claim.step, done, total }),
  });
  await expectClaim(parts, attempt);
  // A file that an interrupted attempt of this run published is not an earlier one.
  if (sha256 !== run.file?.sha256)
    await archive.keep(
      day.iso,
      run.id,
      `earlier-${sha256.slice(0, 12)}-${name}`,
      spool.read(earlierName(run)),
    );
  await spool.remove([earlierName(run)]);
  return sha256;
}

/** Removes what interrupted attempts of the day left on the server. */
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
 * Uploads the review file under a temporary name and, while the claim still holds, renames it in one step. A file
 * with the final name is therefore never partial.
 *
 * @throws FencedError, ChangedFileError
 */
export async function publishReviewFile(
  parts: FileParts,
  attempt: FileAttempt,
  session: SftpSession,
): Promise<Pick<ReviewFile, 'remotePath'> & Partial<Pick<ReviewFile, 'uploaded'>>> {
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
    const uploaded = await session.publish(temporary, remote.path, run.file?.bytes ?? 0);
    return { remotePath: remote.path, ...(uploaded && { uploaded }) };
  } catch (error) {
    // If the connection is gone, the next attempt cleans up.
    await session.remove(temporary).catch(() => {});
    throw error;
  }
}
