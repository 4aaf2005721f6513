import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
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

/** How to install a package that the project does not depend on; undefined when it is there. */
export function findMissingPackage(name: string): string | undefined {
  try {
    createRequire(import.meta.url).resolve(name);
    return undefined;
  } catch {
    return `needs ${name}: npm install --no-save ${name}`;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
