import { measure } from '../../base/content.js';
import { createBusinessDay } from '../../booking/business-day.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RemoteRemoval } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import type { Spool } from '../../storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import { createResultNameTest, largestOf, limitReceived, locateRemoteFiles } from '../file/remote-files.js';
import { listSent, removeNoted } from '../stored/remove-sent.js';
import type { Erasure } from './blank-lines.js';
import { findRecords } from './guest.js';
import { placeIn, type Receipt } from './receipt.js';

export interface ServerParts {
  readonly ledger: Ledger;
  readonly spool: Spool;
  /** Undefined if none is configured. */
  readonly sftp: SftpServer | undefined;
  readonly resultPattern: string;
  readonly timezone: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

const settled: readonly RemoteRemoval['outcome'][] = ['removed', 'absent', 'other'];

/** Whether the server may still hold something of a run of which a guest was erased, for example because it refused. */
export function isServerBehind({ guestErasedAt, file }: Run): boolean {
  const isOpen = (tried: RemoteRemoval | undefined) => !(tried && settled.includes(tried.outcome));
  // The service may have put the guest into more files than the run has judged.
  const tries = [...listSent(file).map(({ tried }) => tried), ...(file?.removals ?? [])];
  return guestErasedAt !== undefined && tries.some(isOpen);
}

/** Removes files with the guest from the SFTP server, as far as it permits that, in one session for all days. */
export function createServerEraser(parts: ServerParts, { guest, at }: Erasure, receipt: Receipt) {
  const { ledger, spool, sftp, timezone, resultPattern, dryRun, signal } = parts;
  let session: SftpSession | SftpError | undefined;

  /** Whether the file is one that these runs sent or judged, or holds the guest in any other way. */
  async function isTheirs(path: string, runs: readonly Run[], open: SftpSession): Promise<boolean> {
    const fetched = `${runs[0]?.id}.fetched.csv`;
    const read = () => spool.read(fetched);
    try {
      await open.download(path, await spool.locate(fetched), { limit: limitReceived(largestOf(runs)) });
      const { sha256 } = await measure(read());
      const isKnown = runs.some(({ file }) => listSent(file).some((sent) => sent.sha256 === sha256));
      return isKnown || (await findRecords(read, guest)).length > 0;
    } finally {
      await spool.remove([fetched]);
    }
  }

  async function eraseFiles(runs: readonly Run[], newest: Run, open: SftpSession): Promise<void> {
    const day = createBusinessDay(newest.day, timezone);
    const { folder, isLeftover } = locateRemoteFiles(day);
    const isResult = createResultNameTest(resultPattern, day);
    const staying = new Set<string>();
    for (const { name } of await open.list(folder)) {
      if (!(name.startsWith(day.ddmmyyyy) || isResult(name) || isLeftover(name))) continue;
      const path = `${folder}/${name}`;
      if (!(await isTheirs(path, runs, open))) {
        staying.add(path);
        continue;
      }
      const note = (outcome: RemoteRemoval['outcome']) => noteOf(runs, newest, path, outcome);
      const outcome = dryRun ? 'removed' : await removeNoted(open, path, note);
      if (outcome === 'removed') receipt.erased.push({ ...placeIn(newest, 'sftp'), name: path });
      else leave(newest, `${path}: the server denies it; check the permissions of the account`);
    }
    if (!dryRun) await noteRest(runs, staying);
  }

  /** Each run that lists the file; the newest one for a file that none lists. */
  async function noteOf(
    runs: readonly Run[],
    newest: Run,
    path: string,
    outcome: RemoteRemoval['outcome'],
  ): Promise<void> {
    const listing = runs.filter(({ file }) => listSent(file).some((sent) => sent.path === path));
    for (const { id } of listing.length > 0 ? listing : [newest])
      await ledger.runs.noteRemoval(id, { path, outcome, at });
  }

  /** What was gone, or replaced by others, before: nobody has to look for it again. */
  async function noteRest(runs: readonly Run[], staying: ReadonlySet<string>): Promise<void> {
    for (const { id } of runs)
      for (const { path, tried } of listSent((await ledger.runs.get(id)).file)) {
        if (tried && tried.outcome !== 'removing') continue;
        await ledger.runs.noteRemoval(id, { path, outcome: staying.has(path) ? 'other' : 'absent', at });
      }
  }

  const leave = (run: Run, why: string) => receipt.left.push({ ...placeIn(run, 'sftp'), why });

  return {
    /** The files of one day. @param runs that hold the guest, the newest first */
    async eraseDay(runs: readonly Run[]): Promise<void> {
      const sent = runs.filter(({ file }) => file?.remotePath !== undefined);
      const [newest] = sent;
      if (!sftp || !newest) return;
      try {
        session ??= await sftp.connect({ signal });
        if (session instanceof SftpError) throw session;
        await eraseFiles(sent, newest, session);
      } catch (error) {
        if (!(error instanceof SftpError)) throw error;
        // Other days would have to wait for the same server.
        session ??= error;
        leave(newest, error.message);
      }
    },
    async close(): Promise<void> {
      if (session && !(session instanceof SftpError)) await session.close();
    },
  };
}
