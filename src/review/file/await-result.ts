import { createHash } from 'node:crypto';
import { readStoredBatches } from '../../ledger/batches.js';
import type { ReviewFile, Sighting, UnreadableResult } from '../../ledger/findings.js';
import { isSameSighting, type Run } from '../../ledger/run.js';
import type { Outcome } from '../../ledger/step.js';
import { type DownloadOptions, type RemoteFile, SftpError, type SftpSession } from '../../sftp/sftp.js';
import { earlierName, type FileAttempt, inSession, isOurFault, resultName } from './file-attempt.js';
import {
  countOurs,
  decideOnResult,
  findJudged,
  isComplete,
  isForeign,
  isNoTable,
  isSettled,
  listColumns,
  listVerdicts,
  pauseBeforeLook,
  type ResultMoment,
} from './judge-result.js';
import { startJoin } from './match-result.js';
import { createResultNameTest, expectFewResults, limitReceived, limitRows } from './remote-files.js';
import { namesBookings } from './result.js';

/**
 * `await-result`: looks once for the result and judges it (spec 4.3, step 4; design 5). A complete one ends the step: its
 * checksum and what it says about each booking are recorded together. What an incomplete one says is recorded too, and
 * the wait continues until `resultTimeoutMs`. A result that belongs to another file is archived and set aside.
 */
export async function awaitResult(attempt: FileAttempt): Promise<Outcome> {
  const isDue = attempt.clock() >= deadlineOf(attempt);
  const outcome = await inSession(attempt, (session) => lookForResult(attempt, session));
  // A server that is away for a while is no reason to give up on the result. What keeps us from reading one that is there
  // uses up tries, and then fails the step.
  if (outcome.kind !== 'retryable' || isOurFault(outcome.evidence.code)) return outcome;
  return isDue ? { kind: 'overdue', evidence: outcome.evidence } : waitOn(attempt, outcome.evidence.code);
}

function deadlineOf({ resultTimeoutMs, run }: FileAttempt): number {
  return calledAt(run) + resultTimeoutMs;
}

function calledAt({ file, startedAt }: Run): number {
  return file?.triggeredAt ?? startedAt;
}

type ReadResult = NonNullable<Awaited<ReturnType<typeof fetchResult>>>;

/** What an attempt found out about the result. */
type Found = Pick<Outcome, 'file' | 'verdicts'>;

/** Waits for the next look, which comes early if a result may have settled by then. */
function waitOn(attempt: FileAttempt, code: string, found: Found = {}): Outcome & { kind: 'waiting' } {
  const { clock, resultPollMs, resultQuietMs, run } = attempt;
  const now = clock();
  const pause = pauseBeforeLook(now - calledAt(run), resultPollMs);
  const { growing } = found.file ?? {};
  const quietAt = growing && !growing.isRead ? Math.max(growing.since + resultQuietMs, now) : Infinity;
  const deadline = deadlineOf(attempt);
  const until = Math.min(now + pause, quietAt, deadline > now ? deadline : Infinity);
  return { kind: 'waiting', evidence: { code }, until, ...found };
}

/** One look, in an open session. */
export async function lookForResult(attempt: FileAttempt, session: SftpSession): Promise<Outcome> {
  const { clock, resultQuietMs, resultNames, run, claim } = attempt;
  const deadline = deadlineOf(attempt);
  const isDue = clock() >= deadline;
  const end = (code: string, found?: Found): Outcome => ({ kind: 'overdue', evidence: { code }, ...found });
  const wait = (code: string, found?: Found) => waitOn(attempt, code, found);

  const { results, unusableNames } = await findResults(attempt, session);
  const [seen] = results;
  if (!seen) return (isDue ? end : wait)(unusableNames > 0 ? 'result-name-unusable' : 'result-absent');
  const now = clock();
  const { growing } = run.file ?? {};
  const isQuiet = (since: number) => now - since >= resultQuietMs;
  // What is first seen after its time is given the time to become whole, too.
  const isLate = isDue && !(growing?.token === claim.token && growing.since < deadline);
  const isOver = (since: number) => isDue && (!isLate || isQuiet(since));
  const isSeenAgain = growing !== undefined && isSameSighting(seen, growing);
  // Whoever takes the run over reads it once more: a setting may have been changed.
  const isKnown =
    isSeenAgain && growing.token === claim.token && (!isQuiet(growing.since) || growing.isRead === true);
  if (isKnown && !isOver(growing.since)) return wait('result-growing', { file: { growing } });

  const result = await fetchResult(attempt, session, seen);
  if (!result) return (isDue ? end : wait)('result-growing');
  const isUnchanged = growing !== undefined && (isSeenAgain || growing.sha256 === result.sha256);
  const since = isUnchanged ? growing.since : now;
  const wasSetAside = run.file?.notOurs?.some(({ name }) => name === seen.name) ?? false;
  const moment: ResultMoment = { isQuiet: isUnchanged && isQuiet(since), isDue: isOver(since), wasSetAside };
  // Reading the same bytes once more could not find anything else.
  const isRead = isSettled(result, moment) && (moment.isQuiet || resultNames === 'all');
  const { sha256 } = result;
  const file = { growing: { ...seen, sha256, since, token: claim.token, ...(isRead && { isRead }) } };
  if (!isSettled(result, moment) && !moment.isDue) return wait('result-growing', { file });
  return judge(attempt, { result, seen, moment, file, notYet: moment.isDue ? end : wait });
}

interface Look {
  readonly result: ReadResult;
  readonly seen: Sighting;
  readonly moment: ResultMoment;
  /** What is recorded about a result that must still grow. */
  readonly file: Pick<ReviewFile, 'growing'>;
  notYet(code: string, found?: Found): Outcome;
}

async function judge(attempt: FileAttempt, look: Look): Promise<Outcome> {
  const { result, seen, moment, file, notYet } = look;
  if (isForeign(result))
    return isSettled(result, moment)
      ? notYet('result-not-ours', await setAside(attempt, seen, result))
      : notYet('result-growing', { file });
  const completes = isComplete(result, moment, attempt);
  const { verdicts, counts } = await listVerdicts(result, result.findJudged(), attempt, completes);
  const decision = decideOnResult(result, counts, moment, attempt);
  switch (decision.kind) {
    case 'wait':
      return notYet('result-growing', { file: { ...file, verdicts: counts }, verdicts });
    case 'refuse': {
      const { code } = decision;
      const unreadable = describeUnreadable(attempt, result);
      return {
        kind: 'refused',
        class: 'data',
        evidence: { code },
        file: { ...file, verdicts: counts, ...(code === 'result-unreadable' && { unreadable }) },
        verdicts,
      };
    }
    case 'accept': {
      const { sha256, end } = result;
      const received = { ...seen, sha256, rows: end.rows, isWhole: decision.isComplete };
      return {
        kind: 'done',
        evidence: { code: 'ok', sha256 },
        file: { result: received, verdicts: counts },
        verdicts,
      };
    }
  }
}

function describeUnreadable({ resultColumn }: FileAttempt, result: ReadResult): UnreadableResult {
  const { fields, columns, end, form } = result;
  const isFound = fields.includes('isCorrect');
  if (!form || !isNoTable(result)) return { columns: listColumns(columns), resultColumn, isFound };
  const { encoding, delimiter, container } = form;
  const seen = {
    columns: columns.length,
    rows: 1 + end.rows,
    namesBookings: namesBookings(result),
    encoding,
    delimiter,
    ...(container !== undefined && { container }),
  };
  return { columns: [], resultColumn, isFound, seen };
}

/** Another file's result is evidence too. What was recorded of it while it grew is about no booking of ours. */
async function setAside(
  { archive, spool, run, day }: FileAttempt,
  seen: Sighting,
  result: ReadResult,
): Promise<Found> {
  const spooled = resultName(run);
  const { notOurs = [], setAside: earlier = [], growing, verdicts } = run.file ?? {};
  const archivedAs = `foreign-${result.sha256.slice(0, 12)}-${seen.name}`;
  await archive.keep(day.iso, run.id, archivedAs, spool.read(spooled));
  await spool.remove([spooled]);
  const setAside = [
    ...earlier,
    { name: seen.name, archivedAs, foreign: result.foreign, ours: countOurs(result) },
  ];
  const file = { notOurs: [...notOurs, { ...seen, sha256: result.sha256 }], setAside };
  if (!verdicts || growing?.name !== seen.name) return { file };
  const none = { affected: 0, unanswered: result.sent, unclear: 0, malformed: 0 };
  return { file: { ...file, verdicts: none }, verdicts: [] };
}

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
    const judgement = await join.end();
    return {
      ...judgement.totals,
      findJudged: () => findJudged(judgement, sources.readSent),
      /** Of the bytes that were judged. */
      sha256: hash.digest('hex'),
    };
  } catch (error) {
    const isMoving =
      error instanceof SftpError && (error.code === 'changed-while-reading' || error.code === 'no-such-file');
    if (isMoving) return undefined;
    throw error;
  }
}
