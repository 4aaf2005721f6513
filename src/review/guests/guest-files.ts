import { type Archive, ArchiveError } from '../../archive/archive.js';
import type { Run } from '../../ledger/run.js';
import type { Spool } from '../../spool/spool.js';
import { listArchived } from '../file/manifest.js';
import { listSpooled } from '../file/spooled-files.js';
import { contains, decodeText, type FileRecord, readRecords } from './file-records.js';
import { type Guest, isRecordOf, isUncut, needleOf } from './guest.js';

/** A record about the guest: its cells by column, or its text if it is malformed. */
export interface GuestRecord {
  readonly line: number;
  readonly cells?: Readonly<Record<string, string>>;
  readonly text?: string;
}

/** A file of a run that says something about the guest. */
export interface GuestFile {
  readonly place: 'archive' | 'spool';
  readonly name: string;
  readonly records: readonly GuestRecord[];
}

/** The files of a run that say something about the guest, wherever they are. */
export async function findGuestFiles(
  { archive, spool }: { readonly archive: Archive; readonly spool: Spool },
  run: Run,
  guest: Guest,
): Promise<readonly GuestFile[]> {
  const found: GuestFile[] = [];
  const look = async (place: GuestFile['place'], name: string, read: () => AsyncIterable<Uint8Array>) => {
    const records = await findRecords(read, guest);
    if (records.length > 0) found.push({ place, name, records });
  };
  const archived = await listArchived(archive, run);
  const spooled = await listSpooled(spool, run.id);
  for (const name of archived) await look('archive', name, () => archive.read(run.day, run.id, name));
  for (const name of spooled) await look('spool', name, () => spool.read(name));
  return found;
}

/** The records about the guest in a file; none if it disappears meanwhile. */
export async function findRecords(
  read: () => AsyncIterable<Uint8Array>,
  guest: Guest,
): Promise<readonly GuestRecord[]> {
  const found: GuestRecord[] = [];
  try {
    if (!(await contains(read(), [needleOf(guest)]))) return [];
    for await (const records of readRecords(read()))
      for (const record of records) if (isRecordOf(guest, record)) found.push(toGuestRecord(record));
    return found;
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function toGuestRecord(record: FileRecord): GuestRecord {
  const { line, raw, cells, form, columns } = record;
  if (!cells || isUncut(record)) return { line, text: decodeText(raw, form).trimEnd() };
  const named = cells.map((cell, at) => [columns.names[at] || `column ${at + 1}`, cell] as const);
  return { line, cells: Object.fromEntries(named) };
}

/** Another process may archive a run, or remove what it kept, at the same time. */
function isAbsence(error: unknown): boolean {
  if (error instanceof ArchiveError) return error.code === 'absent';
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
