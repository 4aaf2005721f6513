import { type Archive, ArchiveError } from '../../archive/archive.js';
import type { Run } from '../../ledger/run.js';
import type { Spool } from '../../spool/spool.js';
import { manifestName } from '../file/manifest.js';
import { listSpooled } from '../file/spooled-files.js';
import { contains, decodeText, type FileRecord, readRecords } from './file-records.js';
import { createGuestColumns, type Guest, type GuestColumns, isRecordOf, isUncut, needleOf } from './guest.js';

export interface GuestFilePlaces {
  readonly archive: Pick<Archive, 'list' | 'read'>;
  readonly spool: Pick<Spool, 'list' | 'read'>;
}

/** A file of a run, wherever it is. */
export interface KeptFile {
  readonly place: 'archive' | 'spool';
  readonly name: string;
  read(): AsyncIterable<Uint8Array>;
}

/** All files of a run that may hold bookings: as sent, results, and whatever else was kept. */
export async function listKeptFiles(
  { archive, spool }: GuestFilePlaces,
  { id, day }: Run,
): Promise<readonly KeptFile[]> {
  const archived = (await archive.list(day, id)).filter((name) => name !== manifestName);
  const spooled = await listSpooled(spool, id);
  return [
    ...archived.map((name) => ({ place: 'archive' as const, name, read: () => archive.read(day, id, name) })),
    ...spooled.map((name) => ({ place: 'spool' as const, name, read: () => spool.read(name) })),
  ];
}

/** A record about the guest: its cells by column, or its text if it is malformed. */
export interface GuestRecord {
  readonly line: number;
  readonly cells?: Readonly<Record<string, string>>;
  readonly text?: string;
}

/** The records about the guest in a file; none if it disappears meanwhile. */
export async function findRecords(
  file: Pick<KeptFile, 'read'>,
  guest: Guest,
): Promise<readonly GuestRecord[]> {
  const found: GuestRecord[] = [];
  try {
    if (!(await contains(file.read(), [needleOf(guest)]))) return [];
    const columnsOf = createGuestColumns();
    for await (const records of readRecords(file.read())) {
      for (const record of records) {
        const columns = columnsOf(record);
        if (isRecordOf(guest, record, columns)) found.push(toGuestRecord(record, columns));
      }
    }
    return found;
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

function toGuestRecord(record: FileRecord, columns: GuestColumns): GuestRecord {
  const { line, raw, cells, form } = record;
  const { header } = columns;
  if (!cells || isUncut(record, columns)) return { line, text: decodeText(raw, form).trimEnd() };
  return {
    line,
    cells: Object.fromEntries(cells.map((cell, at) => [header[at] || `column ${at + 1}`, cell])),
  };
}

/** Another process may archive a run, or remove what it kept, at the same time. */
function isAbsence(error: unknown): boolean {
  if (error instanceof ArchiveError) return error.code === 'absent';
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
