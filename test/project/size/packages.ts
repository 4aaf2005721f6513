import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

export interface Installed {
  readonly packages: number;
  readonly bytes: number;
}

/** What `npm ci --omit=dev` installs on this machine, of what is installed here; packages for other machines are not. */
export function measureInstalled(root: string): Installed {
  const { packages }: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const folders = Object.keys(packages)
    .filter((name) => name !== '' && !packages[name]?.dev)
    .map((name) => join(root, name))
    .filter((folder) => existsSync(folder));
  return {
    packages: folders.length,
    bytes: folders.reduce((total, folder) => total + measureFolder(folder), 0),
  };
}

/** @returns the bytes of its files, without packages below it, which count by themselves */
export function measureFolder(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? measureFolder(path) : entry.isFile() ? statSync(path).size : 0;
    })
    .reduce((total, bytes) => total + bytes, 0);
}
