import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import type { ResultFault } from '../common/faults.js';
import { publishGrowing, publishHalf, publishWhole } from '../common/publish-file.js';
import type { ExportTables, Rows } from './export-tables.js';

/** A complete file of an export, not published yet. */
interface DraftedFile {
  readonly draft: string;
  /** Where it is published. */
  readonly path: string;
  /** Without the header. */
  readonly rows: number;
}

interface DraftOptions {
  readonly tables: ExportTables;
  /** File names, relative to the SFTP root. */
  readonly names: Readonly<Record<keyof ExportTables, string>>;
  readonly root: string;
  readonly drafts: string;
  readonly signal: AbortSignal;
}

/** Writes the three files row by row where no client sees them. */
export async function writeDrafts({
  tables,
  names,
  root,
  drafts,
  signal,
}: DraftOptions): Promise<DraftedFile[]> {
  await mkdir(drafts, { recursive: true, mode: 0o700 });
  const written: DraftedFile[] = [];
  for (const kind of ['mappings', 'transformed', 'hotels'] as const) {
    const draft = join(drafts, posix.basename(names[kind]));
    written.push({
      draft,
      path: join(root, names[kind]),
      rows: await writeRows(tables[kind], draft, signal),
    });
  }
  return written;
}

/** @returns the number of rows without the header */
async function writeRows(rows: Rows, draft: string, signal: AbortSignal): Promise<number> {
  let count = -1;
  function* counted(): Generator<readonly (string | number)[]> {
    for (const row of rows) {
      count += 1;
      yield row;
    }
  }
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
  await pipeline(Readable.from(counted()), stringify(), file, { signal });
  return count;
}

/** Publishes the files: each complete in one step, unless the fault says otherwise. */
export async function publishExport(
  files: readonly DraftedFile[],
  fault: ResultFault | undefined,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    files.map(async ({ draft, path, rows }) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await publish({ draft, path, rows }, fault, signal);
      await rm(draft, { force: true });
    }),
  );
}

async function publish(
  { draft, path, rows }: DraftedFile,
  fault: ResultFault | undefined,
  signal: AbortSignal,
): Promise<void> {
  switch (fault?.kind) {
    case undefined:
    case 'result-late':
    case 'result-twice':
    case 'result-worded':
    case 'result-missing':
      return publishWhole(draft, path);
    case 'result-growing':
      return publishGrowing(draft, path, fault.seconds, signal);
    case 'result-partial':
      await publishHalf(draft, path, rows);
  }
}
