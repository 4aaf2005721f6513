import { measure } from '../../base/content.js';
import type { RunKey } from '../../ledger/runs.js';
import type { Attempt } from '../../ledger/steps.js';
import {
  listResultFiles,
  type ReceivedFile,
  type ResultCounts,
  type ReviewFile,
} from '../../rules/review-file.js';
import { isSameSighting, type Run } from '../../rules/run.js';
import type { Outcome } from '../../rules/step.js';
import { type Archive, type ArchivedFile, ArchiveError } from '../../storage/archive.js';
import type { SftpSession } from '../../transports/sftp/sftp.js';
import { describeErased } from '../every-run.js';
import { fetchAside, findResults, lookForResult } from './await-result.js';
import {
  convertFailures,
  earlierName,
  ensureSpooled,
  type FileAttempt,
  inSession,
  removeSpooled,
  resultName,
  reviewName,
} from './file-attempt.js';
import { limitReceived } from './remote-files.js';

/**
 * `archive`: archives the file as sent and the very bytes of the result that were judged, writes the manifest and empties
 * the spool. Whatever else the server holds by then is archived beside them.
 */
export async function archiveRun(attempt: FileAttempt): Promise<Outcome> {
  const { archive, spool, run, day } = attempt;
  if (run.guestErasedAt !== undefined) return convertFailures(() => archiveErased(attempt));
  return inSession(attempt, async (session) => {
    const { result, verdicts } = run.file ?? {};
    // A result that was set aside since then takes the verdicts with it.
    const archived =
      verdicts?.listsUnanswered && (await archiveResult(attempt, session, listResultFiles(run.file)));
    if (!result || !archived) return judgeAgain(attempt, session);
    // Without its names the file as sent can't be archived any more. The manifest still has its checksum.
    const sent = run.linesBlanked ? describeSent(attempt) : await archiveReviewFile(attempt);
    const later = await archiveLaterResults(attempt, session, listResultFiles(run.file));
    const file = {
      ...run.file,
      archivedTo: archive.locate(day.iso, run.id),
      ...(later.length > 0 && { laterResults: later.map(({ name }) => name) }),
    };
    await archiveManifest(attempt, file, [sent, ...archived, ...later]);
    await removeSpooled(spool, run.id);
    return { kind: 'done', evidence: { code: 'ok', sha256: result.sha256 }, file };
  });
}

/** Of a run of which a guest was erased, what was sent and judged is only recorded, by its checksum. */
async function archiveErased(attempt: FileAttempt): Promise<Outcome> {
  const { archive, spool, run, day } = attempt;
  const results = listResultFiles(run.file).map(({ name, size: bytes, sha256 }) => ({ name, bytes, sha256 }));
  const file = { ...run.file, archivedTo: archive.locate(day.iso, run.id) };
  await archiveManifest(attempt, file, [describeSent(attempt), ...results]);
  await removeSpooled(spool, run.id);
  return { kind: 'done', evidence: { code: 'ok', sha256: run.file?.result?.sha256 }, file };
}

/**
 * The judged bytes are nowhere to be found: does what `await-result` does, until a result is judged and recorded. The next
 * attempt archives that one.
 */
async function judgeAgain(attempt: FileAttempt, session: SftpSession): Promise<Outcome> {
  const outcome = await lookForResult(attempt, session);
  if (outcome.kind !== 'done') return outcome;
  return { ...outcome, kind: 'waiting', evidence: { code: 'result-changed' }, until: attempt.clock() };
}

/** Undefined if the bytes of one of its files are lost. */
async function archiveResult(
  attempt: FileAttempt,
  session: SftpSession,
  files: readonly ReceivedFile[],
): Promise<readonly ArchivedFile[] | undefined> {
  const archived: ArchivedFile[] = [];
  for (const file of files) {
    const one = await archiveResultFile(attempt, session, file);
    if (!one) return undefined;
    archived.push(one);
  }
  return archived;
}

/** From the spool, from an interrupted attempt, or from the server again; undefined if the bytes differ. */
async function archiveResultFile(
  attempt: FileAttempt,
  session: SftpSession,
  { name, sha256 }: ReceivedFile,
): Promise<ArchivedFile | undefined> {
  const { archive, spool, run, day, remote } = attempt;
  const spooled = resultName(run, name);
  const archived = await archiveIfSame(attempt, { name, spooled, sha256 });
  if (archived) return archived;
  if ((await archive.list(day.iso, run.id)).includes(name)) {
    const archived = await measure(archive.read(day.iso, run.id, name));
    if (archived.sha256 === sha256) return { name, ...archived };
  }
  const path = `${remote.folder}/${name}`;
  if ((await session.stat(path)) === undefined) return undefined;
  const limit = limitReceived(run.file);
  await session.download(path, await spool.locate(spooled), { limit });
  return archiveIfSame(attempt, { name, spooled, sha256 });
}

function describeSent({ run, remote }: FileAttempt): ArchivedFile {
  const { bytes = 0, sha256 = '' } = run.file ?? {};
  return { name: remote.name, bytes, sha256 };
}

async function archiveReviewFile(attempt: FileAttempt): Promise<ArchivedFile> {
  const { archive, spool, run, day, remote } = attempt;
  const { name } = remote;
  const spooled = reviewName(run);
  const archived = await archiveIfSame(attempt, { name, spooled, sha256: run.file?.sha256 ?? '' });
  if (archived) return archived;
  await ensureSpooled(attempt, run);
  return archive.store(day.iso, run.id, name, spool.read(spooled));
}

/** Archives a spooled file if it has that checksum. */
async function archiveIfSame(
  attempt: FileAttempt,
  { name, spooled, sha256 }: { readonly name: string; readonly spooled: string; readonly sha256: string },
): Promise<ArchivedFile | undefined> {
  const { archive, spool, run, day } = attempt;
  const store = () => archive.store(day.iso, run.id, name, spool.read(spooled), sha256);
  const makeRoom = async (error: unknown) => {
    if (!(error instanceof ArchiveError && error.code === 'different-content')) throw error;
    await setForgottenAside(attempt, name);
    return store();
  };
  try {
    return await store().catch(makeRoom);
  } catch (error) {
    const isOther = error instanceof ArchiveError && error.code === 'unexpected-content';
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isOther || isAbsent) return undefined;
    throw error;
  }
}

/** A ledger that was restored does not know which result it judged before. That is evidence, too: it stays under another name. */
async function setForgottenAside({ archive, run, day }: FileAttempt, name: string): Promise<void> {
  const names = await archive.list(day.iso, run.id);
  // The manifest first: without it, nothing says that the folder is complete.
  for (const known of [manifestName, name].filter((one) => names.includes(one))) {
    const read = () => archive.read(day.iso, run.id, known);
    const { sha256 } = await measure(read());
    await archive.store(day.iso, run.id, `earlier-${sha256.slice(0, 12)}-${known}`, read());
    await archive.remove(day.iso, run.id, [known]);
  }
}

/** A service may write its result twice, or another one after it: that was not judged, and is evidence too. */
async function archiveLaterResults(
  attempt: FileAttempt,
  session: SftpSession,
  judged: readonly ReceivedFile[],
): Promise<readonly ArchivedFile[]> {
  const { archive, spool, run, day } = attempt;
  const archived: ArchivedFile[] = [];
  const { results } = await findResults(attempt, session);
  for (const seen of results) {
    if (judged.some((file) => isSameSighting(seen, file))) continue;
    const sha256 = await fetchAside(attempt, session, seen.name);
    if (judged.some((file) => file.sha256 === sha256)) continue;
    const name = `later-${sha256.slice(0, 12)}-${seen.name}`;
    archived.push(await archive.store(day.iso, run.id, name, spool.read(earlierName(run))));
  }
  return archived;
}

export const manifestName = 'manifest.json';

/** What a run has in the archive that may hold bookings: the file as sent, results, and whatever else was archived. */
export async function listArchived(archive: Archive, { day, id }: RunKey): Promise<readonly string[]> {
  return (await archive.list(day, id)).filter((name) => name !== manifestName);
}

/** What was sent and when, what came back, and the checksums of all archived files. */
export type Manifest = ReturnType<typeof describeRun> & {
  readonly tool: string;
  readonly calls: ReturnType<typeof describeCalls>;
  readonly files: readonly ArchivedFile[];
  /** Why none of these files is beside it, if it was written after a guest was erased. */
  readonly removed?: string;
};

/**
 * Archives the manifest. It comes last, so its presence proves that all other files are there. An attempt that is
 * repeated leaves it alone.
 *
 * @param known the files that this attempt has archived, which are not read once more, and those that can't be archived any more
 */
export async function archiveManifest(
  { ledger, archive, tool, run, day }: FileAttempt,
  file: Partial<ReviewFile>,
  known: readonly ArchivedFile[] = [],
): Promise<void> {
  const names = await archive.list(day.iso, run.id);
  if (names.includes(manifestName)) return;
  const removed = describeErased(run);
  const manifest: Manifest = {
    tool,
    ...describeRun({ ...run, file }),
    calls: describeCalls(await ledger.steps.listAttempts(run.id, 'trigger')),
    files: await Promise.all(
      [...new Set([...names, ...known.map(({ name }) => name)])].sort().map(async (name) => {
        const { bytes, sha256 } =
          known.find((file) => file.name === name) ?? (await measure(archive.read(day.iso, run.id, name)));
        return { name, bytes, sha256 };
      }),
    ),
    ...(removed !== undefined && { removed }),
  };
  await archive.store(day.iso, run.id, manifestName, toBytes(`${JSON.stringify(manifest, null, 2)}\n`));
}

/** As archived, byte for byte. @throws ArchiveError `absent`, `unreadable` */
export async function readManifest(archive: Pick<Archive, 'read'>, { day, id }: Run): Promise<Buffer> {
  const blocks: Buffer[] = [];
  // A block is valid until the next one is read.
  for await (const block of archive.read(day, id, manifestName)) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
}

/** The part that the ledger knows for as long as it keeps the run. */
export function describeRun({ id, day, counts, file }: Run) {
  const { read, accepted, duplicates, rejected } = counts;
  const { remotePath, rows, result, verdicts } = file ?? {};
  return {
    day,
    runId: id,
    remotePath,
    rows,
    counts: { read, accepted, duplicates, rejected },
    result: result && { name: result.name, rows: result.rows, isWhole: result.isWhole },
    ...(result?.others && { otherResults: result.others.map(({ name, rows }) => ({ name, rows })) }),
    verdicts: verdicts && describeCounts(verdicts),
  };
}

function describeCounts({ affected, unanswered, unclear, malformed }: ResultCounts) {
  return { affected, unanswered, unclear, malformed };
}

export function describeCalls(attempts: readonly Attempt[]) {
  return attempts.map(({ startedAt, endedAt, outcome, code, httpStatus, statusCode }) => ({
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    outcome,
    code,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(statusCode !== undefined && { statusCode }),
  }));
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
