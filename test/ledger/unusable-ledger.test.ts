import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { LedgerFullError, LedgerUnusableError } from '../../src/ledger/errors.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { fileExists, openLedgerFile, refuseUnusable } from '../../src/ledger/sqlite/ledger-file.js';
import { withoutPrivileges } from '../support/machine.js';
import { startChild } from './child.js';

const nobody = 65_534;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  onTestFinished(() => rm(folder, { recursive: true }));
});

it.each([
  ['ENOSPC', 'is full: free some space, then'],
  ['EDQUOT', 'is beyond the quota of this user: remove files there, then'],
])('a full disk (%s) is not an unsuitable path: it is reported as temporary', (code, why) => {
  const path = join(folder, 'ledger.db');
  const cause = Object.assign(new Error(`${code}: mkdir`), { code, syscall: 'mkdir' });
  const fail = () => {
    throw cause;
  };
  expect(() => refuseUnusable(path, fail)).toThrow(LedgerFullError);
  expect(() => refuseUnusable(path, fail)).toThrow(why);
});

describe('a location where no ledger can be', () => {
  it('is a folder, which is left unchanged', () => {
    const path = join(folder, 'data');
    mkdirSync(path, { mode: 0o755 });
    expect(refusalOf(path)).toBe('expected a file, got: a folder; name a file in it with the setting ledger');
    expect(modeOf(path)).toBe('755');
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it.each(['a text of some length\n'.repeat(500), 'short', `SQLite format 3\0${'damaged'.repeat(200)}`])(
    'is a file of another kind, which is left unchanged: %#',
    (content) => {
      const path = join(folder, 'report.txt');
      writeFileSync(path, content, { mode: 0o644 });
      expect(refusalOf(path)).toBe(
        'expected an SQLite database, got: a file of another kind; name another with the setting ledger',
      );
      expect(readFileSync(path, 'utf8')).toBe(content);
      expect(modeOf(path)).toBe('644');
      expect(readdirSync(folder)).toEqual(['report.txt']);
    },
  );

  it.each([0, 1, 99])("is another program's database, which is left unchanged: version %i", (version) => {
    const path = join(folder, 'places.sqlite');
    const database = openDatabase(path, { busyTimeoutMs: 0 });
    database.exec(`CREATE TABLE places (name TEXT); PRAGMA user_version = ${version}`);
    database.close();
    chmodSync(path, 0o644);
    const before = readFileSync(path);
    expect(refusalOf(path)).toBe(
      'expected a ledger or no file, got: a database of another program; name another file with the setting ledger',
    );
    expect(readFileSync(path)).toEqual(before);
    expect(modeOf(path)).toBe('644');
    expect(readdirSync(folder)).toEqual(['places.sqlite']);
  });

  it.each(['data/ledger.db', 'data/deep/ledger.db'])('is not writable: %s', async (name) => {
    mkdirSync(join(folder, 'data'));
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'data'), 0o555);
    const refusal = await withoutPrivileges(() => refusalOf(join(folder, name)));
    expect(refusal).toMatch(/got: EACCES: permission denied, (open|mkdir) /);
    expect(readdirSync(join(folder, 'data'))).toEqual([]);
  });

  it.each([0o444, 0o000])('is a ledger without write permission: mode %i', async (mode) => {
    const path = await makeLedger();
    chmodSync(path, mode);
    expect(await refusalWithoutPrivileges(path)).toContain(
      `expected a file that can be created, read and written, got: EACCES: permission denied, access '${path}'; fix that`,
    );
  });
});

describe('checking for the ledger', () => {
  it('finds a file, or none, and creates nothing', () => {
    const path = join(folder, 'data', 'ledger.db');
    expect(fileExists(path)).toBe(false);
    expect(existsSync(join(folder, 'data'))).toBe(false);
    openLedgerFile(path, { isReader: false }).close();
    expect(fileExists(path)).toBe(true);
  });

  it('is refused if there is something else', () => {
    expect(() => fileExists(folder)).toThrow(LedgerUnusableError);
    writeFileSync(join(folder, 'file'), '');
    expect(() => fileExists(join(folder, 'file', 'ledger.db'))).toThrow(LedgerUnusableError);
  });
});

/** A ledger that belongs to `nobody` when root creates it. */
async function makeLedger(): Promise<string> {
  const path = join(folder, 'ledger.db');
  openLedgerFile(path, { isReader: false }).close();
  chmodSync(folder, 0o777);
  // The log beside it stays until the garbage collector closes the connection.
  const files = readdirSync(folder).filter((name) => name !== 'ledger.db.locks');
  if (process.getuid?.() === 0) for (const name of files) chownSync(join(folder, name), nobody, nobody);
  return path;
}

/** The refusal that a process other than root's gets; only a separate process can give up root completely. */
async function refusalWithoutPrivileges(path: string): Promise<string | undefined> {
  const child = startChild(
    `const { openLedgerFile } = await import(built + 'ledger-file.js');
     if (process.getuid() === 0) process.setuid(${nobody});
     try {
       openLedgerFile(${JSON.stringify(path)}, { isReader: false });
     } catch (error) {
       console.log(error.message);
     }
     console.log('done');`,
  );
  onTestFinished(() => child.kill());
  await child.printed('done');
  return child.lines[0];
}

/** Why the location is refused, without its name. */
function refusalOf(path: string): string {
  try {
    openLedgerFile(path, { isReader: false }).close();
  } catch (error) {
    if (!(error instanceof LedgerUnusableError)) throw error;
    expect(error.location).toBe(path);
    const beginning = `the ledger ${path} cannot be used: `;
    expect(error.message.slice(0, beginning.length)).toBe(beginning);
    return error.message.slice(beginning.length);
  }
  throw new Error(`the ledger ${path} was opened`);
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
