import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandResult } from './command.js';

/** `file` of the closing JSON as it must be. Repeated here so that the tests don't follow the code. */
export interface ReportedFile {
  readonly remotePath: string | null;
  readonly sha256: string;
  readonly rows: number;
  readonly resultName: string | null;
  readonly archivedTo: string | null;
}

/** @throws Error when the run reports no file */
export function reportedFile({ json, stderr }: CommandResult): ReportedFile {
  const { file } = json as { file?: ReportedFile | null };
  if (file) return file;
  throw new Error(`expected a report with a file, got ${JSON.stringify(json)}\n${stderr}`);
}

/** What the archive holds of one run. */
export interface ArchivedRun {
  readonly path: string;
  /** Sorted. */
  names(): string[];
  read(name: string): Buffer;
  readManifest(): Record<string, unknown>;
}

/** The archive of a run that ended with a file. */
export function archiveOf(result: CommandResult): ArchivedRun {
  return archiveAt(reportedFile(result).archivedTo ?? '');
}

function archiveAt(path: string): ArchivedRun {
  const read = (name: string) => readFileSync(join(path, name));
  return {
    path,
    // Without the mark of the account.
    names: () =>
      readdirSync(path)
        .filter((name) => !name.startsWith('.'))
        .sort(),
    read,
    readManifest: () => JSON.parse(read('manifest.json').toString()) as Record<string, unknown>,
  };
}

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
