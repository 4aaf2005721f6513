import { readFileSync } from 'node:fs';

/** This program's version, as its package says. */
export function readVersion(): string {
  const packageFile = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
}
