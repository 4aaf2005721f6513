import { measure } from '../../async/measure.js';
import { createBusinessDay } from '../../booking/business-day.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isActive, type RemoteRemoval, type Run } from '../../ledger/run.js';
import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';
import type { Spool } from '../../spool/spool.js';
import { followErasures } from '../erasures.js';
import { listEveryRun } from '../every-run.js';
import { locateRemoteFiles } from '../file/remote-files.js';
import { countedFrom } from './oldest-names.js';

export interface RemoveSentParts {
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly sftp: SftpServer;
  readonly timezone: string;
  readonly clock: () => number;
}

/** What was done with the files of old runs on the SFTP server. */
export interface RemovedSent {
  readonly removed: number;
  /** How many the server refused to remove. */
  readonly denied: number;
  /** The refusals are new: none was recorded before. */
  readonly isNewlyDenied: boolean;
}

interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Removes our files and their results from the SFTP server, of runs that are older than `before` and not needed there
 * any more. A file is removed only if it is, byte for byte, what the ledger says that this run sent or judged. What
 * became of each is recorded, so that it is not tried again, or after a refusal only once a week has passed. Each
 * removal is also recorded before it starts, so that after a kill the file is known to have been ours.
 *
 * @param before YYYY-MM-DD
 * @throws SftpError for anything but a refused removal; the rest is done the next time
 */
export async function removeSentFiles(
  parts: RemoveSentParts,
  before: string,
  signal: AbortSignal,
): Promise<RemovedSent> {
  const runs = await listEveryRun(parts.ledger);
  const due = listDueToRemove(runs, before, parts);
  let removed = 0;
  let denied = 0;
  let session: SftpSession | undefined;
  try {
    for (const { id, day } of due) {
      signal.throwIfAborted();
      const hold = await parts.ledger.holds.day(day);
      if (!hold) continue;
      try {
        session ??= await parts.sftp.connect({ signal });
        for (const outcome of await removeOfRun(parts, session, await parts.ledger.runs.get(id))) {
          if (outcome === 'removed') removed += 1;
          if (outcome === 'denied') denied += 1;
        }
      } finally {
        await hold.release();
      }
    }
  } finally {
    await session?.close();
  }
  return { removed, denied, isNewlyDenied: denied > 0 && !runs.some(wasDenied) };
}

export function wasDenied({ file }: Run): boolean {
  return file?.removals?.some(({ outcome }) => outcome === 'denied') ?? false;
}

/** A day's file is that of its newest run: an older one's was replaced. */
export function listDueToRemove(
  runs: readonly Run[],
  before: string,
  { timezone, clock }: Pick<RemoveSentParts, 'timezone' | 'clock'>,
): readonly Run[] {
  const newest = new Map<string, Run>();
  for (const run of runs)
    if (run.file?.remotePath !== undefined && !newest.has(run.day)) newest.set(run.day, run);
  return [...newest.values()].filter((run) => {
    const isEnded = !isActive(run) && (run.file?.archivedTo !== undefined || run.state === 'cancelled');
    // Without its names a run can't be continued, whatever its state.
    return (isEnded || run.linesBlanked) && countedFrom(run, timezone) < before && hasOpen(run, clock());
  });
}

function hasOpen(run: Run, now: number): boolean {
  return listSent(run).some(({ path }) => isOpen(findRemoval(run, path), now));
}

/** An operator may grant the right to remove files later. */
const deniedForMs = 7 * 86_400_000;

function isOpen(removal: RemoteRemoval | undefined, now: number): boolean {
  if (removal?.outcome === 'denied') return removal.at <= now - deniedForMs;
  return removal === undefined || removal.outcome === 'removing';
}

function findRemoval({ file }: Run, path: string): RemoteRemoval | undefined {
  return file?.removals?.find((one) => one.path === path);
}

function listSent({ file }: Run): readonly SentFile[] {
  const { remotePath, bytes = 0, sha256 = '', result } = file ?? {};
  if (remotePath === undefined) return [];
  const folder = remotePath.slice(0, remotePath.lastIndexOf('/'));
  const ours = { path: remotePath, bytes, sha256 };
  if (!result) return [ours];
  return [ours, { path: `${folder}/${result.name}`, bytes: result.size, sha256: result.sha256 }];
}

async function removeOfRun(
  parts: RemoveSentParts,
  session: SftpSession,
  run: Run,
): Promise<readonly RemoteRemoval['outcome'][]> {
  const outcomes: RemoteRemoval['outcome'][] = [];
  for (const sent of listSent(run)) {
    const { path } = sent;
    const before = findRemoval(run, path);
    if (!isOpen(before, parts.clock())) continue;
    const note = (outcome: RemoteRemoval['outcome']) =>
      parts.ledger.runs.noteRemoval(run.id, { path, outcome, at: parts.clock() });
    const wasBegun = before?.outcome === 'removing';
    const outcome = await removeFile(parts, session, run, sent, { wasBegun, begin: () => note('removing') });
    await note(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function removeFile(
  parts: RemoveSentParts,
  session: SftpSession,
  run: Run,
  sent: SentFile,
  { wasBegun, begin }: { readonly wasBegun: boolean; readonly begin: () => Promise<void> },
): Promise<RemoteRemoval['outcome']> {
  const found = await session.stat(sent.path);
  if (found === undefined) return wasBegun ? 'removed' : 'absent';
  if (!(await isOurs(parts, session, run, { ...sent, size: found.size }))) return 'other';
  await begin();
  try {
    const answer = await session.remove(sent.path);
    return answer === 'absent' ? 'removed' : answer;
  } catch (error) {
    if (error instanceof SftpError && error.kind === 'denied') return 'denied';
    throw error;
  }
}

/** Whether the file has the bytes that the ledger knows, or those that an erasure has left of them. */
async function isOurs(
  { ledger, spool, timezone }: RemoveSentParts,
  session: SftpSession,
  run: Run,
  { path, bytes, sha256, size }: SentFile & { readonly size: number },
): Promise<boolean> {
  const { folder } = locateRemoteFiles(createBusinessDay(run.day, timezone));
  if (!path.startsWith(`${folder}/`)) return false;
  const expected = followErasures(await ledger.guests.listErasedContents(run.id), 'sftp', {
    name: path,
    sha256,
  });
  if (expected === sha256 && size !== bytes) return false;
  const fetched = `${run.id}.removing.csv`;
  try {
    await session.download(path, await spool.locate(fetched), {
      limit: { bytes: size, advice: 'it grew since it was looked at: try again later' },
    });
    return (await measure(spool.read(fetched))).sha256 === expected;
  } finally {
    await spool.remove([fetched]);
  }
}
