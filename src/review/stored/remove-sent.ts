import { measure } from '../../base/content.js';
import { createBusinessDay } from '../../booking/business-day.js';
import type { Ledger } from '../../ledger/ledger.js';
import { listResultFiles, type RemoteRemoval, type ReviewFile } from '../../rules/review-file.js';
import { isActive, type Run } from '../../rules/run.js';
import { hasFinalVerdicts } from '../../rules/verdict.js';
import type { Spool } from '../../storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import { createNewestOfDay, readEveryRun } from '../every-run.js';
import { locateRemoteFiles } from '../file/remote-files.js';
import { countedFrom } from './retention.js';

interface RemoveSentParts {
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly sftp: SftpServer;
  readonly timezone: string;
  readonly clock: () => number;
}

/**
 * Removes our files and their results from the SFTP server, of runs that are older than `before` and not needed there
 * any more. A file is removed only if it is, byte for byte, what the ledger says that this run sent or judged. What
 * became of each is recorded, so that it is not tried again, or after a refusal only once a week has passed. Each
 * removal is also recorded before it starts, so that after a kill the file is known to have been ours.
 *
 * @param before YYYY-MM-DD
 * @returns how many the server refused to remove, and whether it refused none before
 * @throws SftpError for anything but a refused removal; the rest is done the next time
 */
export async function removeSentFiles(parts: RemoveSentParts, before: string, signal: AbortSignal) {
  const { ledger, sftp, timezone, clock } = parts;
  const isDue = createRemovalCheck(before, { timezone, now: clock() });
  let denied = 0;
  let deniedBefore = false;
  let session: SftpSession | undefined;
  try {
    for await (const run of readEveryRun(ledger)) {
      signal.throwIfAborted();
      deniedBefore ||= wasDenied(run);
      if (!isDue(run)) continue;
      const { id, day } = run;
      const hold = await ledger.holds.day(day);
      if (!hold) continue;
      try {
        session ??= await sftp.connect({ signal });
        denied += await removeOfRun(parts, session, await ledger.runs.get(id));
      } finally {
        await hold.release();
      }
    }
  } finally {
    await session?.close();
  }
  return { denied, isNewlyDenied: denied > 0 && !deniedBefore };
}

function wasDenied({ file }: Run): boolean {
  return file?.removals?.some(({ outcome }) => outcome === 'denied') ?? false;
}

/** Whether the files of a run are due to be removed. Call it for each, the newest first. */
function createRemovalCheck(
  before: string,
  { timezone, now }: { readonly timezone: string; readonly now: number },
): (run: Run) => boolean {
  const isNewest = createNewestOfDay();
  return (run) => {
    if (run.file?.remotePath === undefined || !isNewest(run)) return false;
    const isEnded = !isActive(run) && hasFinalVerdicts(run);
    // Without its names a run can't be continued, whatever its state.
    const isOver = isEnded || run.linesBlanked === true;
    return isOver && countedFrom(run, timezone) < before && listDueSent(run, now).length > 0;
  };
}

/** An operator may grant the right to remove files later. */
const deniedForMs = 7 * 86_400_000;

/** What a run has put on the server or judged there, its file and those of the result; and what became of each. */
export function listSent(file: Partial<ReviewFile> | undefined) {
  const { remotePath, bytes = 0, sha256 = '' } = file ?? {};
  if (remotePath === undefined) return [];
  const folder = remotePath.slice(0, remotePath.lastIndexOf('/'));
  const sent = [{ path: remotePath, bytes, sha256 }];
  for (const { name, size, sha256 } of listResultFiles(file))
    sent.push({ path: `${folder}/${name}`, bytes: size, sha256 });
  return sent.map((one) => ({ ...one, tried: file?.removals?.find(({ path }) => path === one.path) }));
}

type SentFile = ReturnType<typeof listSent>[number];

function listDueSent({ file }: Run, now: number): readonly SentFile[] {
  return listSent(file).filter(({ tried }) => {
    const isDueAgain = tried?.outcome === 'denied' && tried.at <= now - deniedForMs;
    return tried === undefined || tried.outcome === 'removing' || isDueAgain;
  });
}

/** Returns how many of its files the server refused to remove. */
async function removeOfRun(parts: RemoveSentParts, session: SftpSession, run: Run): Promise<number> {
  let denied = 0;
  for (const sent of listDueSent(run, parts.clock())) {
    const note = (outcome: RemoteRemoval['outcome']) =>
      parts.ledger.runs.noteRemoval(run.id, { path: sent.path, outcome, at: parts.clock() });
    const found = await session.stat(sent.path);
    if (found === undefined) await note(sent.tried?.outcome === 'removing' ? 'removed' : 'absent');
    else if (!(await isOurs(parts, session, run, { ...sent, size: found.size }))) await note('other');
    else if ((await removeNoted(session, sent.path, note)) === 'denied') denied += 1;
  }
  return denied;
}

/** Removes a file from the server; records that before it starts, and what became of it. */
export async function removeNoted(
  session: SftpSession,
  path: string,
  note: (outcome: RemoteRemoval['outcome']) => Promise<void>,
): Promise<'removed' | 'denied'> {
  await note('removing');
  const outcome = await removeUnlessDenied(session, path);
  await note(outcome);
  return outcome;
}

async function removeUnlessDenied(session: SftpSession, path: string): Promise<'removed' | 'denied'> {
  try {
    return (await session.remove(path)) === 'denied' ? 'denied' : 'removed';
  } catch (error) {
    if (error instanceof SftpError && error.kind === 'denied') return 'denied';
    throw error;
  }
}

/** Whether the file has the bytes that the ledger knows. */
async function isOurs(
  { spool, timezone }: RemoveSentParts,
  session: SftpSession,
  run: Run,
  { path, bytes, sha256, size }: SentFile & { readonly size: number },
): Promise<boolean> {
  const { folder } = locateRemoteFiles(createBusinessDay(run.day, timezone));
  if (!path.startsWith(`${folder}/`)) return false;
  if (size !== bytes) return false;
  const fetched = `${run.id}.removing.csv`;
  try {
    await session.download(path, await spool.locate(fetched), {
      limit: { bytes: size, advice: 'it grew since it was looked at: try again later' },
    });
    return (await measure(spool.read(fetched))).sha256 === sha256;
  } finally {
    await spool.remove([fetched]);
  }
}
