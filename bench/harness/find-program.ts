import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Says how to get a program (a package of Debian's) that is not in the PATH; undefined when it is there. */
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
