import { createHash } from 'node:crypto';
import { measure } from '../../base/content.js';
import type { ProviderHotel } from '../../booking/booking.js';
import { readBooking } from '../../booking/stored-line.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { type CopiedMapping, keyOfHotel, type MappingMove } from '../../ledger/mappings.js';
import type { Trace } from '../../ledger/tracing.js';
import { wasSynced } from '../../mappings/copied-hotels.js';
import { listResultFiles } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { type Archive, ArchiveError } from '../../storage/archive.js';
import type { Spool } from '../../storage/spool.js';
import { describeErased } from '../every-run.js';
import { manifestName, readManifest } from '../file/archive-run.js';
import { createSentComparer, type SentComparison } from '../stored/as-sent.js';
import { maskAnswers, withoutWorkers } from '../stored/stored-line.js';
import { findGuest, findGuestFiles, type GuestFile } from './guest.js';

interface EvidenceParts {
  readonly ledger: ReadOnlyLedger;
  readonly archive: Archive;
  readonly spool: Spool;
}

export interface RunEvidence {
  readonly run: Run;
  /** With the service's words, in which no other guest is named. */
  readonly traces: readonly Trace[];
  /** Of each trace, whether what was sent can be rendered again: see `createSentComparer`. */
  readonly renderedAgain: readonly (SentComparison | undefined)[];
  /** The records about the booking in the day's file, in the result, and in whatever else is kept of the run. */
  readonly rows: readonly GuestFile[];
  readonly checksums: readonly Checksum[];
  /** As archived, byte for byte. */
  readonly manifest?: Buffer;
}

export interface Checksum {
  readonly name: string;
  /** SHA-256, in hexadecimal, as the ledger recorded it; absent of a manifest. */
  readonly recorded?: string;
  /** What the archive holds now; absent if it is no longer there. */
  readonly archived?: string;
  /** Why it is no longer there, if a guest of the run was erased. */
  readonly removed?: string;
}

export interface MappingEvidence extends ProviderHotel {
  /** False while no sync has ended: then the copy knows nothing. */
  readonly isSynced: boolean;
  /** Null if the local copy has never seen the pair. */
  readonly copied: { readonly mapping: CopiedMapping; readonly moves: readonly MappingMove[] } | null;
}

/**
 * What proves what was done about a booking: in each run, the oldest first, and of each pair under which it was sent. It
 * holds the guest's name where that is still kept.
 */
export async function gatherEvidence(parts: EvidenceParts, reference: string, signal: AbortSignal) {
  const { ledger } = parts;
  const guest = await findGuest(ledger, reference);
  const byRun = new Map<string, Trace[]>();
  const pairs = new Map<string, ProviderHotel>();
  for (const trace of guest.traces) {
    byRun.set(trace.run.id, [...(byRun.get(trace.run.id) ?? []), trace]);
    if (trace.kind === 'reject') continue;
    const { providerName, providerHotelId } = readBooking(trace.line);
    if (providerName === undefined || providerHotelId === undefined) continue;
    pairs.set(keyOfHotel({ providerName, providerHotelId }), { providerName, providerHotelId });
  }
  const runs: RunEvidence[] = [];
  const compare = createSentComparer(ledger);
  // Newest first, as traced.
  for (const traces of [...byRun.values()].reverse()) {
    signal.throwIfAborted();
    const run = traces[0]?.run;
    if (!run) continue;
    const rows = await findGuestFiles(parts, run, guest);
    const masked: Trace[] = [];
    const renderedAgain: (SentComparison | undefined)[] = [];
    for (const trace of traces) {
      masked.push(withoutWorkers(await maskAnswers(ledger, trace)));
      renderedAgain.push(await compare(trace));
    }
    runs.push({ run, traces: masked, renderedAgain, rows, ...(await readSums(parts, run)) });
  }
  const mappings: MappingEvidence[] = [];
  const isSynced = await wasSynced(ledger.mappings);
  for (const pair of pairs.values())
    mappings.push({ ...pair, isSynced, copied: (await ledger.mappings.find(pair)) ?? null });
  return { runs, mappings };
}

async function readSums(
  { archive }: EvidenceParts,
  run: Run,
): Promise<{ readonly checksums: readonly Checksum[]; readonly manifest?: Buffer }> {
  const { id, day, file } = run;
  const removed = describeErased(run);
  const recorded = [
    { name: file?.remotePath?.split('/').at(-1), sha256: file?.sha256 },
    ...listResultFiles(file),
  ];
  const checksums: Checksum[] = [];
  for (const { name, sha256 } of recorded) {
    if (name === undefined || sha256 === undefined) continue;
    const archived = await unlessAbsent(async () => (await measure(archive.read(day, id, name))).sha256);
    checksums.push({
      name,
      recorded: sha256,
      ...(archived !== undefined && { archived }),
      ...(archived === undefined && removed !== undefined && { removed }),
    });
  }
  if (file === undefined) return { checksums };
  const manifest = await unlessAbsent(() => readManifest(archive, run));
  if (!manifest) return { checksums };
  const sha256 = createHash('sha256').update(manifest).digest('hex');
  return { checksums: [...checksums, { name: manifestName, archived: sha256 }], manifest };
}

async function unlessAbsent<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ArchiveError && error.code === 'absent') return undefined;
    throw error;
  }
}
