import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listFiles } from '../support/leaks.js';

/** Faces by their names. */
export type Faces = ReadonlyMap<string, string>;

/** As they are in the repository. */
export const readRecorded = (): Promise<Faces> =>
  readFaces(fileURLToPath(new URL('recorded', import.meta.url)));

/** As they are now. */
export async function recordAgain(...ledger: readonly string[]): Promise<Faces> {
  const folder = await mkdtemp(join(tmpdir(), 'faces-'));
  // A process of its own: it changes the clock.
  const recorder = fileURLToPath(new URL('record.ts', import.meta.url));
  await promisify(execFile)(process.execPath, ['--import', 'tsx', recorder, folder, ...ledger]);
  try {
    return await readFaces(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readFaces(folder: string): Promise<Faces> {
  const paths = listFiles(folder).sort();
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return new Map(paths.map((path, place) => [relative(folder, path), texts[place] ?? '']));
}
