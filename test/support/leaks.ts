import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';

/** The guests in all tests: `Guest 17` of the default bookings, and names made up to be searched for. */
const guestName = /Guest \d+|Canaria|Zwitscherfink/;
/** Where guests' names may be below `data`: in the ledger, in the spool, and in the files of the archive. */
const mayHoldNames = /^(?:[^/]*\.db(?:-wal|-shm)?|spool\/.*|archive\/.*\.csv)$/;

export interface Written {
  readonly args: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
}

/** Fails when a text for logs, metrics, a queue or a terminal names a guest or contains a secret. */
export function expectNoLeak(what: string, text: string, secrets: readonly string[] = []): void {
  const name = guestName.exec(text)?.[0];
  const secret = secrets.find((word) => text.includes(word));
  expect({ what, name, secret }).toEqual({ what, name: undefined, secret: undefined });
}

/** The same for the output of the commands of one folder, and for the files they left there. */
export function expectNoLeaks(
  folder: string,
  { written, secrets }: { readonly written: readonly Written[]; readonly secrets: readonly string[] },
): void {
  for (const { args, stdout, stderr } of written) {
    // Where a person asks for the service's own words, these may name a guest.
    if (args.includes('--answers')) expectNoSecret(args.join(' '), stdout, secrets);
    else expectNoLeak(`standard output of ${args.join(' ')}`, stdout, secrets);
    expectNoLeak(`standard error of ${args.join(' ')}`, stderr, secrets);
  }
  const data = join(folder, 'data');
  for (const path of listFiles(data)) {
    const name = relative(data, path);
    const text = readFileSync(path, 'latin1');
    expectNoSecret(name, text, secrets);
    if (!mayHoldNames.test(name)) expectNoLeak(name, `${name}\n${text}`, secrets);
  }
}

function expectNoSecret(what: string, text: string, secrets: readonly string[]): void {
  expect({ what, secrets: secrets.filter((word) => text.includes(word)) }).toEqual({ what, secrets: [] });
}

/** Every file below that folder, if it exists. */
function listFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
