import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** A folder for the inputs and outputs of a comparison. It is removed when this process exits, at the latest. */
export function makeTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'hotel-review-bench-'));
  const remove = () => {
    process.removeListener('exit', remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.once('exit', remove);
  return { path, remove };
}

/** How to install a program that is not in the PATH; undefined when it is there. */
export function findMissingProgram(program: string, debianPackage: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (folders.some((folder) => isExecutable(join(folder, program)))) return undefined;
  return `needs ${program}: apt-get install ${debianPackage}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
