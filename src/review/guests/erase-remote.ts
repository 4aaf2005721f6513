import { measure } from '../../async/measure.js';
import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import type { ErasedContent } from '../../ledger/erasing.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { SizeLimit } from '../../sftp/limits.js';
import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';
import type { Spool } from '../../spool/spool.js';
import { largestOf, limitReceived, locateRemoteFiles } from '../file/remote-files.js';
import { type ErasedPlace, type LeftPlace, mayStillBeSent } from './erase-guest.js';
import { type Erasure, eraseRecords } from './erase-records.js';
import { findRecords } from './guest-files.js';

export interface EraseRemoteParts {
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly sftp: SftpServer;
  readonly timezone: string;
}

interface EraseRemoteOptions {
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/**
 * Takes a guest out of our files and their results on the SFTP server, as far as it permits that. A day's files belong to its
 * newest run.
 *
 * @param runs that carry the guest, the newest first
 */
export async function eraseRemote(
  parts: EraseRemoteParts,
  runs: readonly Run[],
  erasure: Erasure,
  options: EraseRemoteOptions,
): Promise<{ readonly erased: readonly ErasedPlace[]; readonly left: readonly LeftPlace[] }> {
  const newest = new Map<string, Run>();
  for (const run of runs) if (run.file && !newest.has(run.day)) newest.set(run.day, run);
  const erased: ErasedPlace[] = [];
  const left: LeftPlace[] = [];
  const leave = ({ id, day }: Run, why: string) => left.push({ runId: id, day, place: 'sftp', why });
  if (newest.size === 0) return { erased, left };
  const found = await connect(parts.sftp, options.signal);
  for (const run of newest.values()) {
    if (typeof found === 'string') leave(run, found);
    else if (!mayStillBeSent(run))
      try {
        const ofDay = runs.filter(({ day }) => day === run.day);
        const limit = limitReceived(largestOf(ofDay));
        for (const place of await eraseDay(parts, found, { run, limit }, erasure, options))
          erased.push(place);
      } catch (error) {
        if (!(error instanceof SftpError)) throw error;
        leave(run, error.message);
      }
  }
  if (typeof found !== 'string') await found.close();
  return { erased, left };
}

async function connect(sftp: SftpServer, signal: AbortSignal): Promise<SftpSession | string> {
  try {
    return await sftp.connect({ signal });
  } catch (error) {
    if (error instanceof SftpError) return error.message;
    throw error;
  }
}

async function eraseDay(
  { ledger, spool, timezone }: EraseRemoteParts,
  session: SftpSession,
  { run, limit }: { readonly run: Run; readonly limit: SizeLimit },
  erasure: Erasure,
  { dryRun }: EraseRemoteOptions,
): Promise<ErasedPlace[]> {
  const day: BusinessDay = createBusinessDay(run.day, timezone);
  const { folder, name: ours, temporaryPath } = locateRemoteFiles(day);
  const erased: ErasedPlace[] = [];
  const fetched = `${run.id}.fetched.csv`;
  const rewritten = `${run.id}.rewritten.csv`;
  const isOfDay = (name: string) => name.startsWith(day.ddmmyyyy) && name.toLowerCase().endsWith('.csv');
  try {
    for (const { name } of await session.list(folder)) {
      if (name !== ours && !isOfDay(name)) continue;
      const path = `${folder}/${name}`;
      await session.download(path, await spool.locate(fetched), { limit });
      const read = () => spool.read(fetched);
      if ((await findRecords({ read }, erasure.guest)).length === 0) continue;
      const { sha256: before } = await measure(read());
      const { bytes, sha256: after } = await spool.write(rewritten, eraseRecords(read(), erasure));
      if (after === before) continue;
      const content: ErasedContent = { place: 'sftp', name: path, before, after, at: erasure.at };
      if (!dryRun) {
        const temporary = temporaryPath(run.id, run.token, 0);
        await session.upload(await spool.locate(rewritten), temporary);
        await session.copyMode(path, temporary);
        await session.publish(temporary, path, bytes);
        await ledger.guests.noteErased(run.id, content);
      }
      erased.push({
        runId: run.id,
        day: run.day,
        place: 'sftp',
        name: path,
        sha256Before: before,
        sha256After: after,
      });
    }
  } finally {
    await spool.remove([fetched, rewritten]);
  }
  return erased;
}
