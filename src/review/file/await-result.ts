import { createHash } from 'node:crypto';
import type {
  ReviewFile,
  SetAsideResult,
  Sighting,
  UnreadableResult,
  VerdictSource,
} from '../../rules/review-file.js';
import { isSameSighting, type Run } from '../../rules/run.js';
import type { Outcome } from '../../rules/step.js';
import {
  type DownloadOptions,
  type RemoteFile,
  SftpError,
  type SftpSession,
} from '../../transports/sftp/sftp.js';
import {
  earlierName,
  type FileAttempt,
  inSession,
  isOurFault,
  readRows,
  removeSpooled,
  resultName,
} from './file-attempt.js';
import { type ResultTotals, startJoin } from './join-result.js';
import {
  countOurs,
  decideOnResult,
  isComplete,
  isForeign,
  isNoTable,
  isSettled,
  joinTotals,
  keepIncorrect,
  listColumns,
  listVerdicts,
  nameMoment,
  needsNoReading,
  pauseBeforeLook,
  type ResultMoment,
} from './judge-result.js';
import { createResultNameTest, expectFewResults, limitReceived, limitRows } from './remote-files.js';
import { namesBookings } from './result.js';
import { createVerdictState, type RecordedVerdicts, type VerdictState } from './verdict-state.js';

/**
 * `await-result`: looks once for the result and judges it (spec 4.3, step 4). A complete one ends the step: its
 * checksum and what it says about each booking are recorded together. What an incomplete one says is recorded too, and
 * the wait continues until `resultTimeoutMs`. A result that belongs to another file is archived and set aside.
 */
export async function awaitResult(attempt: FileAttempt): Promise<Outcome> {
  const isDue = attempt.clock() >= deadlineOf(attempt);
  const outcome = await inSession(attempt, (session) => lookForResult(attempt, session));
  // It is judged by now, and of a run of which a guest was erased, no bytes are kept.
  if (attempt.run.guestErasedAt !== undefined) await removeSpooled(attempt.spool, attempt.run.id);
  // A server that is away for a while is no reason to give up on the result. What keeps us from reading one that is there
  // uses up tries, and then fails the step.
  if (outcome.kind !== 'retryable' || isOurFault(outcome.evidence.code)) return outcome;
  return (isDue ? giveUpOn : waitOn)(attempt, outcome.evidence.code);
}

function deadlineOf({ resultTimeoutMs, run }: FileAttempt): number {
  return calledAt(run) + resultTimeoutMs;
}

function calledAt({ file, startedAt }: Run): number {
  return file?.triggeredAt ?? startedAt;
}

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

/** It did not arrive in time. */
function giveUpOn(attempt: FileAttempt, code: string, found?: Found): Outcome {
  return { ...waitOn(attempt, code, found), kind: 'overdue' };
}

/** One look, in an open session. */
export async function lookForResult(attempt: FileAttempt, session: SftpSession): Promise<Outcome> {
  const { clock, resultQuietMs: quietMs, run, claim } = attempt;
  const deadline = deadlineOf(attempt);
  // What arrives in time is seen by a look that begins after its time.
  const isDue = clock() >= deadline;
  const end = (code: string, found?: Found) => giveUpOn(attempt, code, found);
  const wait = (code: string, found?: Found) => waitOn(attempt, code, found);

  const { results, unusableNames } = await findResults(attempt, session);
  if (results.length === 0)
    return (isDue ? end : wait)(unusableNames > 0 ? 'result-name-unusable' : 'result-absent');
  const { growing } = run.file ?? {};
  const look = { now: clock(), isDue, deadline, quietMs, token: claim.token, growing };
  const isSeenAgain = growing !== undefined && areSame(results, growing.files, isSameSighting);
  if (isSeenAgain && needsNoReading(look)) return wait('result-growing', { file: { growing } });

  const read = await readFiles(attempt, session, results);
  if (!read) return (isDue ? end : wait)('result-growing');
  const isUnchanged =
    growing !== undefined &&
    (isSeenAgain || areSame(read.files, growing.files, (one, other) => one.sha256 === other.sha256));
  const since = isUnchanged ? growing.since : look.now;
  const moment = nameMoment(look, since);
  return sortFiles(attempt, read, since, moment, moment.isDue ? end : wait);
}

/** Sets aside what is not ours, and judges the rest once nothing of it is cut off, or its time is over. */
async function sortFiles(
  attempt: FileAttempt,
  read: ReadFiles,
  since: number,
  moment: ResultMoment,
  notYet: Look['notYet'],
): Promise<Outcome> {
  const { resultNames, claim } = attempt;
  const hasSettled = (file: ReadFile) =>
    isSettled(file.totals, { ...moment, wasSetAside: wasSetAside(attempt, file) });
  const isOthers = (file: ReadFile) => isForeign(file.totals) && hasSettled(file);
  const aside = await setAside(attempt, read, read.files.filter(isOthers));
  const left = read.files.filter((file) => !isOthers(file));
  if (left.length === 0) return notYet('result-not-ours', aside);
  const areSettled = left.every(hasSettled);
  // Reading the same bytes once more could not find anything else.
  const isRead = areSettled && (moment.isQuiet || resultNames === 'all');
  const files = left.map(({ totals: _, ...sighting }) => sighting);
  const file = { ...aside.file, growing: { files, since, token: claim.token, ...(isRead && { isRead }) } };
  const ours = left.filter(({ totals }) => !isForeign(totals));
  if (ours.length === 0 || !(areSettled || moment.isDue)) return notYet('result-growing', { ...aside, file });
  return judge(attempt, { ours, state: read.state, moment, file, notYet });
}

/** Whether each file is one of the others, in any order. */
function areSame<One, Other>(
  files: readonly One[],
  others: readonly Other[],
  isSame: (one: One, other: Other) => boolean,
): boolean {
  return files.length === others.length && files.every((one) => others.some((other) => isSame(one, other)));
}

function wasSetAside({ run }: FileAttempt, { name }: Sighting): boolean {
  return run.file?.notOurs?.some((other) => other.name === name) ?? false;
}

/** A file that was read. */
interface ReadFile extends Sighting {
  readonly sha256: string;
  readonly totals: ResultTotals;
}

interface ReadFiles {
  /** The newest first. */
  readonly files: readonly ReadFile[];
  /** What was recorded about the bookings, and then what those of the files say that are about ours. */
  readonly state: VerdictState;
  readonly recorded: RecordedVerdicts;
}

/** Reads the files one after the other, the oldest first; undefined if one of them changes or disappears meanwhile. */
async function readFiles(
  attempt: FileAttempt,
  session: SftpSession,
  results: readonly Sighting[],
): Promise<ReadFiles | undefined> {
  const { ledger, run } = attempt;
  const { verdicts, verdictSources: sources = [] } = run.file ?? {};
  const recorded = verdicts ? await ledger.bookings.listEverIncorrect(run.id) : [];
  const keepsTimes = await areTimesKept(attempt, session, [...results, ...sources]);
  const state = createVerdictState({ verdicts: recorded, sources }, keepsTimes);
  const oldestFirst = [...results].sort(
    (one, other) =>
      (keepsTimes ? (one.modifiedAt ?? 0) - (other.modifiedAt ?? 0) : 0) || (one.name < other.name ? -1 : 1),
  );
  const files: ReadFile[] = [];
  for (const seen of oldestFirst) {
    const result = await fetchResult(attempt, session, seen);
    if (!result) return undefined;
    const { judgement, sha256 } = result;
    const { totals } = judgement;
    files.unshift({ ...seen, sha256, totals });
    const isNews = results.length > 1 || recorded.length > 0 || !judgement.isAllCorrect;
    if (isNews && !isForeign(totals)) await state.add(judgement.say(), seen);
  }
  return { files, state, recorded: { verdicts: recorded, sources } };
}

/** Only times of several files are compared. */
async function areTimesKept(
  { remote }: FileAttempt,
  session: SftpSession,
  files: readonly VerdictSource[],
): Promise<boolean> {
  const [first] = files;
  if (!first || files.every(({ name }) => name === first.name)) return true;
  return (await session.examineTime(`${remote.folder}/${first.name}`)) === 'kept';
}

interface Look {
  /** The files of the result, the newest first. */
  readonly ours: readonly ReadFile[];
  readonly state: VerdictState;
  readonly moment: ResultMoment;
  /** What is recorded about a result that must still grow. */
  readonly file: Partial<ReviewFile>;
  notYet(code: string, found?: Found): Outcome;
}

async function judge(attempt: FileAttempt, look: Look): Promise<Outcome> {
  const { ours, state, moment, file, notYet } = look;
  const totals = joinTotals(
    ours.map((one) => one.totals),
    ours.length > 1 ? state.countUnnamed() : (ours[0]?.totals.unanswered ?? 0),
  );
  const completes = isComplete(totals, moment, attempt);
  const { verdicts, sources, counts } = listVerdicts(totals, state, attempt, completes);
  const known = { verdicts: counts, verdictSources: sources };
  const decision = decideOnResult(totals, counts, moment, attempt);
  switch (decision.kind) {
    case 'wait':
      return notYet('result-growing', { file: { ...file, ...known }, verdicts });
    case 'refuse': {
      const { code } = decision;
      const unreadable = describeUnreadable(attempt, totals);
      return {
        kind: 'refused',
        class: 'data',
        evidence: { code },
        file: { ...file, ...known, ...(code === 'result-unreadable' && { unreadable }) },
        verdicts,
      };
    }
    case 'accept': {
      const { growing: _, ...aside } = file;
      const [newest, ...others] = ours.map(({ totals: { end }, ...one }) => ({ ...one, rows: end.rows }));
      if (!newest) throw new RangeError('expected a result, got: no file');
      const result = { ...newest, isWhole: decision.isComplete, ...(others.length > 0 && { others }) };
      return {
        kind: 'done',
        evidence: { code: 'ok', sha256: newest.sha256 },
        file: { ...aside, result, ...known },
        verdicts,
      };
    }
  }
}

function describeUnreadable({ resultColumn }: FileAttempt, totals: ResultTotals): UnreadableResult {
  const { fields, columns, ambiguous, end, form } = totals;
  const isFound = fields.includes('isCorrect');
  const named = { columns: listColumns(columns), resultColumn, isFound };
  if (ambiguous.length > 0) return { ...named, ambiguous: listColumns(ambiguous) };
  if (!form || !isNoTable(totals)) return named;
  const { encoding, delimiter, container } = form;
  const seen = {
    columns: columns.length,
    rows: 1 + end.rows,
    namesBookings: namesBookings(fields),
    encoding,
    delimiter,
    ...(container !== undefined && { container }),
  };
  return { columns: [], resultColumn, isFound, seen };
}

/**
 * Other files' results are evidence too. If what was recorded came from one of them while it grew, only its "incorrect" is left:
 * nothing but a newer verdict clears that.
 */
async function setAside(
  { archive, spool, run, day }: FileAttempt,
  { recorded }: ReadFiles,
  foreign: readonly ReadFile[],
): Promise<Found> {
  if (foreign.length === 0) return {};
  const { notOurs = [], setAside: earlier = [], growing, verdicts } = run.file ?? {};
  const newly: SetAsideResult[] = [];
  for (const { name, sha256, totals } of foreign) {
    const spooled = resultName(run, name);
    const archivedAs = `foreign-${sha256.slice(0, 12)}-${name}`;
    if (run.guestErasedAt === undefined)
      await archive.store(day.iso, run.id, archivedAs, spool.read(spooled));
    await spool.remove([spooled]);
    newly.push({ name, archivedAs, foreign: totals.foreign, ours: countOurs(totals) });
  }
  const sightings = foreign.map(({ totals: _, ...sighting }) => sighting);
  const file = { notOurs: [...notOurs, ...sightings], setAside: [...earlier, ...newly] };
  const grew = foreign.some(({ name }) => growing?.files.some((one) => one.name === name));
  if (!verdicts || !grew) return { file };
  const left = keepIncorrect(recorded, foreign[0]?.totals.sent ?? 0);
  return {
    file: { ...file, verdicts: left.counts, verdictSources: left.sources },
    verdicts: left.verdicts,
  };
}

/** Files in the day's folder that are named like its result and not known to belong to another run. */
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
  const spooled = resultName(run, seen.name);
  const sources = { readSent: () => readRows(ledger, run), readBytes: () => spool.read(spooled) };
  const hasErased = run.guestErasedAt !== undefined;
  const join = startJoin(sources, { ...attempt, hasErased, onRows: limitRows(run.file) });
  const hash = createHash('sha256');
  try {
    const received = await session.download(`${remote.folder}/${seen.name}`, await spool.locate(spooled), {
      limit: limitReceived(run.file),
      async onBytes(piece) {
        hash.update(piece);
        await join.take(piece);
      },
    });
    // What was read did not change meanwhile, whatever its time was in the listing.
    if (received.size !== seen.size) return undefined;
    const judgement = await join.end();
    /** Of the bytes that were judged. */
    const sha256 = hash.digest('hex');
    return { judgement, sha256 };
  } catch (error) {
    const isMoving =
      error instanceof SftpError && (error.code === 'changed-while-reading' || error.code === 'no-such-file');
    if (isMoving) return undefined;
    throw error;
  }
}
