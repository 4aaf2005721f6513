import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';

/** The guests in all tests: `Guest 17` of the default bookings, and names made up to be searched for. */
const guestName = /Guest \d+|Canaria|Zwitscherfink/;
/** Where guests' names may be below `data`: in the ledger, in the spool, and in the files of the archive. */
const mayHoldNames = /^data\/(?:[^/]*\.db(?:-wal|-shm)?|spool\/.*|archive\/.*\.csv)$/;

export interface Written {
  readonly args: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
}

/** Every place that a command can write to. */
export interface CheckedPlaces {
  /** Where `data` and `tmp` of the commands are. */
  readonly folder: string;
  readonly written: readonly Written[];
  readonly secrets: readonly string[];
}

/** Fails when a text for logs, metrics, a queue or a terminal names a guest or contains a secret. */
export function expectNoLeak(what: string, text: string, secrets: readonly string[] = []): void {
  expect(guestName.exec(text)?.[0], `the guest's name in ${what}`).toBeUndefined();
  expectNoSecret(what, text, secrets);
}

/** The same for everything that the commands of one folder wrote. */
export function expectNoLeaks({ folder, written, secrets }: CheckedPlaces): void {
  for (const { args, stdout, stderr } of written) {
    // Every user of the machine can list the arguments of processes.
    expectNoSecret('arguments', args.join(' '), secrets);
    // Where a person asks for the service's own words, these may name a guest.
    if (args.includes('--answers')) expectNoSecret(args.join(' '), stdout, secrets);
    else expectNoLeak(`standard output of ${args.join(' ')}`, stdout, secrets);
    expectNoLeak(`standard error of ${args.join(' ')}`, stderr, secrets);
  }
  for (const path of ['data', 'tmp'].flatMap((name) => listFiles(join(folder, name)))) {
    const name = relative(folder, path);
    expectNoLeak('a file name', name, secrets);
    const text = readFileSync(path, 'latin1');
    expectNoSecret(name, text, secrets);
    if (!mayHoldNames.test(name)) expectNoLeak(name, text, secrets);
  }
}

/** Tables of the ledger that may hold names: what is sent, what was wrong with it, and what was answered. */
const tablesWithNames = ['batches', 'rejects', 'attempts', 'suspects'];

/** The same for all other tables of a ledger on PostgreSQL; none of them holds a secret. */
export async function expectNoLeakInTables(url: string, secrets: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const listed = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'hotel_review'`;
    for (const { name } of (await client.query(listed)).rows) {
      const { rows } = await client.query(`SELECT "${name}"::text AS row FROM hotel_review."${name}"`);
      const text = rows.map(({ row }) => row).join('\n');
      if (tablesWithNames.includes(name)) expectNoSecret(`table ${name}`, text, secrets);
      else expectNoLeak(`table ${name}`, text, secrets);
    }
  } finally {
    await client.end();
  }
}

function expectNoSecret(what: string, text: string, secrets: readonly string[]): void {
  const leaked = secrets.find((word) => text.includes(word));
  expect(leaked, `the secret in ${what}`).toBeUndefined();
}

/** Every file below that folder, if it exists. */
export function listFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
