import { createBusinessDay } from '../../booking/business-day.js';
import { startChain } from '../../rules/file-chain.js';
import type { ReviewFile } from '../../rules/review-file.js';
import { isSameSighting } from '../../rules/run.js';
import type { Outcome } from '../../rules/step.js';
import type { SftpSession } from '../../transports/sftp/sftp.js';
import { toServiceOutcome } from '../body/body-delivery.js';
import type { Delivery } from '../delivery.js';
import { hasErasedGuest } from '../every-run.js';
import { archiveRun } from './archive-run.js';
import { awaitResult, fetchAside, fetchResult, findResults } from './await-result.js';
import {
  ChangedFileError,
  convertFailures,
  earlierName,
  ensureSpooled,
  expectClaim,
  type FileAttempt,
  type FileParts,
  inSession,
  masterIdColumnOf,
  removeSpooled,
  reviewName,
  spoolReviewFile,
} from './file-attempt.js';
import { checkReviewFile } from './file-check.js';
import { hasNewResult } from './late-result.js';
import { createResultNameTest, expectFewResults, limitEarlier, locateRemoteFiles } from './remote-files.js';

/**
 * Delivers a day as a CSV file on an SFTP server; bookings that can't be in the file are posted by body. (Spec 4.3.)
 */
export function createFileDelivery(
  parts: FileParts & {
    /** Posts the bookings that can't be in the file. */
    readonly body: Delivery;
    /** The account's time zone. */
    readonly timezone: string;
  },
): Delivery {
  const { body, incomplete, masterIdColumn, timezone } = parts;
  return {
    kind: 'file',
    names: body.names,
    incomplete,
    masterIdName: body.masterIdName,
    masterIdColumn,
    plan: (bookings) => [...startChain(bookings.file), ...body.plan(bookings)],
    async perform(claim, signal) {
      const { run } = claim;
      const { kind } = claim.step;
      if (kind === 'batch' || kind === 'canary') return body.perform(claim, signal);
      const day = createBusinessDay(run.day, timezone);
      const attempt = { ...parts, claim, run, day, remote: locateRemoteFiles(day), signal };
      try {
        return await steps[kind](attempt);
      } catch (error) {
        if (!(error instanceof ChangedFileError)) throw error;
        return { kind: 'fatal', evidence: { code: 'review-file-changed' }, advice: error.message };
      } finally {
        await removeSpooledTooLate(attempt);
      }
    },
    hasNewResult: (run, signal) =>
      hasNewResult({ ...parts, run, day: createBusinessDay(run.day, timezone), signal }),
  };
}

const steps = {
  write: writeReviewFile,
  upload: uploadReviewFile,
  trigger: triggerReview,
  'await-result': awaitResult,
  archive: archiveRun,
};

/**
 * Call this after a step. If the run was taken over and ended meanwhile, nobody else would remove what this step
 * spooled since, including guest names. While the new owner is still working, the files are its own to remove.
 */
async function removeSpooledTooLate({ ledger, spool, claim, run }: FileAttempt): Promise<void> {
  if (await ledger.steps.holdsClaim(claim)) return;
  const { state } = await ledger.runs.get(run.id);
  if (state !== 'succeeded' && state !== 'cancelled') return;
  await removeSpooled(spool, run.id);
}

/**
 * `write`: writes the review file to the spool and checks it byte by byte against the file rules. (Spec 4.3.)
 */
async function writeReviewFile(attempt: FileAttempt): Promise<Outcome> {
  return convertFailures(async () => {
    const { spool, ledger, incomplete, run } = attempt;
    await removeOthersOfDay(attempt);
    const { bytes, sha256 } = await spoolReviewFile(attempt, run);
    const { bookings: rows } = await ledger.bookings.measureBatches(run.id, 'file');
    const mayBeEmpty = incomplete === 'leave-empty';
    const expected = { masterIdColumn: masterIdColumnOf(run), rows, sha256, mayBeEmpty };
    const fault = await checkReviewFile(spool.read(reviewName(run)), expected);
    if (fault) {
      const { code, row, column } = fault;
      const where = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
      // Collected with other settings than those it is resumed with.
      const isLeftEmpty = code === 'blank-cell' && !mayBeEmpty;
      return {
        kind: 'fatal',
        evidence: { code: `review-file-${code}` },
        advice: isLeftEmpty
          ? `the written file has an empty cell at ${where}; nothing was sent. If this day was collected with file.incomplete: leave-empty, set it again, or replay the day.`
          : `the written file breaks the file rules at ${where}; nothing was sent: please report this and keep the ledger`,
      };
    }
    return { kind: 'done', evidence: { code: 'ok', sha256 }, file: { rows, bytes, sha256 } };
  });
}

/** Removes what an abandoned run of the day left in the spool. A run's name begins with its day. */
async function removeOthersOfDay({ spool, run: { id } }: FileAttempt): Promise<void> {
  const [day] = id.split('-');
  const names = await spool.list();
  await spool.remove(names.filter((name) => name.startsWith(`${day}-`) && !name.startsWith(id)));
}

/**
 * `upload`: archives what an earlier run left on the server, so that nothing is lost and an old result can't be
 * mistaken for the new one, then publishes the review file. (Spec 4.3, step 2.)
 */
export async function uploadReviewFile(attempt: FileAttempt): Promise<Outcome> {
  const { remote, run } = attempt;
  return inSession(attempt, async (session) => {
    await session.makeFolder(remote.folder);
    await removeLeftovers(attempt, session);
    const notOurs = await archiveEarlierFiles(attempt, session);
    const published = await publishReviewFile(attempt, session);
    return {
      kind: 'done',
      evidence: { code: 'ok', sha256: run.file?.sha256 },
      file: { ...published, notOurs },
    };
  });
}

/** Returns the results that could not be removed, so that `await-result` can ignore them. */
async function archiveEarlierFiles(attempt: FileAttempt, session: SftpSession) {
  const { ledger, remote, day, resultPattern } = attempt;
  const isResult = createResultNameTest(resultPattern, day);
  // Where the server did not permit to remove what holds an erased guest, it must not come back from there.
  const mayBeArchived = !(await hasErasedGuest(ledger, day.iso));
  const staying: ReviewFile['notOurs'][number][] = [];
  const files = await session.list(remote.folder);
  expectFewResults(files.filter(({ name }) => isResult(name)).length, remote.folder);
  for (const found of files) {
    const path = `${remote.folder}/${found.name}`;
    await expectClaim(attempt);
    if (found.name === remote.name) await archiveEarlierFile(attempt, session, found.name, mayBeArchived);
    else if (isResult(found.name)) {
      const sha256 = await archiveEarlierFile(attempt, session, found.name, mayBeArchived);
      await expectClaim(attempt);
      if ((await session.remove(path)) === 'denied') staying.push({ ...found, sha256 });
    }
  }
  return staying;
}

/** Archives a file under a name with its checksum, so that repeating it changes nothing. @returns the checksum */
async function archiveEarlierFile(
  attempt: FileAttempt,
  session: SftpSession,
  name: string,
  mayBeArchived: boolean,
): Promise<string> {
  const { spool, archive, run, day } = attempt;
  const sha256 = await fetchAside(attempt, session, name, {
    limit: await limitEarlier(attempt, day.iso),
    onProgress: reportTransfer(attempt),
  });
  await expectClaim(attempt);
  // A file that an interrupted attempt of this run published is not an earlier one.
  if (mayBeArchived && sha256 !== run.file?.sha256)
    await archive.store(
      day.iso,
      run.id,
      `earlier-${sha256.slice(0, 12)}-${name}`,
      spool.read(earlierName(run)),
    );
  await spool.remove([earlierName(run)]);
  return sha256;
}

const reportTransfer =
  ({ notify, run, claim: { step } }: FileAttempt) =>
  (done: number, total: number) =>
    notify({ type: 'transferring', run, step, done, total });

/** Removes what interrupted attempts of the day left on the server. */
async function removeLeftovers(attempt: FileAttempt, session: SftpSession): Promise<void> {
  const { folder, isLeftover } = attempt.remote;
  for (const { name } of await session.list(folder)) {
    if (!isLeftover(name)) continue;
    await expectClaim(attempt);
    await session.remove(`${folder}/${name}`);
  }
}

/**
 * Uploads the review file under a temporary name and, while the claim still holds, renames it in one step. A file
 * with the final name is therefore never partial.
 *
 * @throws FencedError, ChangedFileError
 */
async function publishReviewFile(attempt: FileAttempt, session: SftpSession) {
  const { spool, claim, run, remote, signal } = attempt;
  await ensureSpooled(attempt, run);
  signal.throwIfAborted();
  const temporary = remote.temporaryPath(run.id, claim.token, claim.attempt);
  try {
    await session.upload(await spool.locate(reviewName(run)), temporary, {
      onProgress: reportTransfer(attempt),
    });
    await expectClaim(attempt);
    const uploaded = await session.publish(temporary, remote.path, run.file?.bytes ?? 0);
    return { remotePath: remote.path, ...(uploaded && { uploaded }) };
  } catch (error) {
    // If the connection is gone, the next attempt cleans up.
    await session.remove(temporary).catch(() => {});
    throw error;
  }
}

/** How many of the latest runs are searched for an accepted call. */
const runsConsulted = 200;

/**
 * `trigger`: checks that the file on the server is the one that was uploaded, then makes the by-file call. If an
 * earlier call may have succeeded, its result may be there already, and no further call is needed. (Spec 4.3, step
 * 3.) A 500, 503 or 504 is such a call: the specification does not say that the service has done nothing.
 */
export async function triggerReview(attempt: FileAttempt): Promise<Outcome> {
  const { service, pathPrefix, clock, claim, run, remote, signal } = attempt;
  const sha256 = run.file?.sha256 ?? '';
  const looked = await inSession(attempt, async (session) => {
    // If this step had to publish the file again, an attempt at that may have been interrupted.
    await removeLeftovers(attempt, session);
    if (claim.mayRepeat && (await isAnswered(attempt, session)))
      return {
        kind: 'done',
        evidence: { code: 'result-found', sha256 },
        file: { triggeredAt: clock() },
        nothingSent: true,
      };
    return { kind: 'done', evidence: { code: 'ok' }, file: await ensurePublished(attempt, session) };
  });
  if (looked.kind !== 'done') return { ...looked, nothingSent: true };
  if (looked.nothingSent) return looked;

  await expectClaim(attempt);
  const path = `${pathPrefix}${remote.path}`;
  const result = await service.reviewBookedHotelsByFile(path, { signal });
  const outcome = await adviseOnPath(toServiceOutcome(result, sha256), path, attempt);
  return { ...outcome, file: { ...looked.file, ...(outcome.kind === 'done' && { triggeredAt: clock() }) } };
}

/** A 404 of the by-file call can mean the address or the file. Calls that were accepted before rule out the address. */
async function adviseOnPath(outcome: Outcome, path: string, { ledger, run }: FileAttempt): Promise<Outcome> {
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
async function isAnswered(attempt: FileAttempt, session: SftpSession): Promise<boolean> {
  const { results } = await findResults(attempt, session);
  for (const seen of results) {
    const totals = (await fetchResult(attempt, session, seen))?.judgement.totals;
    if (totals && totals.foreign === 0 && totals.unanswered < totals.sent) return true;
  }
  return false;
}

/**
 * The file may have been removed or replaced since. On a server that takes files away at once there is nothing to
 * compare.
 */
async function ensurePublished(attempt: FileAttempt, session: SftpSession): Promise<Partial<ReviewFile>> {
  const { remote, run, spool } = attempt;
  const { uploaded, bytes, sha256 } = run.file ?? {};
  if (!uploaded) return {};
  const found = await session.stat(remote.path);
  if (found && isSameSighting(found, uploaded)) return {};
  if (found && found.size === bytes) {
    const foundSha256 = await fetchAside(attempt, session, remote.name);
    await spool.remove([earlierName(run)]);
    if (foundSha256 === sha256) return { uploaded: found };
  }
  return publishReviewFile(attempt, session);
}
