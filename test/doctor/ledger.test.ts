import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkLedger } from '../../src/checks/doctor/ledger.js';
import { lookOnce } from '../../src/checks/examination/check.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { fileExists } from '../../src/ledger/sqlite/ledger-file.js';
import { createSqliteLedger, createSqliteReader } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { withoutPrivileges } from '../support/machine.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const options = { clock: Date.now };

function openSqlite(path: string): Ledger {
  return createSqliteLedger({ path, ...options });
}

/** Checks as doctor does: a failure becomes a finding. */
function check(path: string, limits: { readonly busyTimeoutMs?: number } = {}) {
  const open = async () =>
    fileExists(path) ? createSqliteReader({ path, ...options, ...limits }) : undefined;
  return lookOnce(
    { part: 'ledger', seconds: 30, look: () => checkLedger({ location: path, isFile: true, open }) },
    { signal: new AbortController().signal, onAbandoned: () => {} },
  );
}

type Ended = readonly [day: string, state?: 'succeeded' | 'failed'];

/** A ledger with these runs; a run without a state is still collecting. */
async function makeLedger(runs: readonly Ended[]): Promise<string> {
  const path = join(makeTemporaryFolder(), 'ledger.db');
  const ledger = openSqlite(path);
  for (const [index, [day, state]] of runs.entries()) {
    const run = { id: `run-${index}`, day, delivery: 'body', trigger: 'manual', startedAt: index } as const;
    const { token } = await ledger.runs.create(run);
    if (state) await ledger.runs.settle({ runId: run.id, token }, { state, at: 9 });
  }
  await ledger.close();
  // The driver only closes when garbage-collected, and would then write back the WAL in the middle of a test.
  const database = openDatabase(path, { busyTimeoutMs: 0 });
  database.all('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return path;
}

/** The files next to a ledger, except those that SQLite creates and removes with its connections. */
function listBeside(path: string): string[] {
  return readdirSync(join(path, '..')).filter((name) => !/-(wal|shm)$/.test(name));
}

describe('a ledger that does not exist yet', () => {
  it('is reported with its future path, and is not created', async () => {
    const folder = makeTemporaryFolder();
    const path = join(folder, 'data', 'deep', 'ledger.db');
    expect(await check(path)).toEqual([
      { part: 'ledger', verdict: 'ok', message: `it does not exist yet and will be created at ${path}` },
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is wrong if it cannot be created', async () => {
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, 'data'), { mode: 0o555 });
    // Readable for everyone, so that the check finds that it can't be written.
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'file'), '');
    const [denied] = await withoutPrivileges(() => check(join(folder, 'data', 'ledger.db')));
    expect(denied).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/EACCES: permission denied, open/),
    });
    const [blocked] = await check(join(folder, 'file', 'ledger.db'));
    expect(blocked).toMatchObject({ verdict: 'wrong', message: expect.stringMatching(/cannot be used/) });
  });
});

describe('a ledger', () => {
  it('may be empty', async () => {
    const path = await makeLedger([]);
    expect(await check(path)).toEqual([
      { part: 'ledger', verdict: 'ok', message: `${path} holds no run yet` },
    ]);
  });

  it('is reported with its number of runs and the state of the last day, and does not change', async () => {
    const path = await makeLedger([
      ['2026-11-18', 'succeeded'],
      ['2026-11-20', 'succeeded'],
      ['2026-11-19', 'succeeded'],
    ]);
    const before = readFileSync(path);
    const names = listBeside(path);
    expect(await check(path)).toEqual([
      {
        part: 'ledger',
        verdict: 'ok',
        message: `${path} holds 3 runs; the last day is 2026-11-20: succeeded`,
      },
    ]);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(listBeside(path)).toEqual(names);
  });

  it('makes doctor warn about unfinished days, by the newest run of each', async () => {
    const path = await makeLedger([
      ['2026-11-17', 'failed'],
      ['2026-11-18', 'succeeded'],
      ['2026-11-19', 'failed'],
      ['2026-11-19', 'succeeded'],
      ['2026-11-20'],
    ]);
    const findings = await check(path);
    expect(findings[1]).toMatchObject({
      verdict: 'warning',
      message: 'unfinished, or in progress: 2026-11-20 (collecting), 2026-11-17 (failed)',
      advice: expect.stringContaining('hotel-review run --day'),
    });
  });

  it('is reported with five of many unfinished days', async () => {
    const path = await makeLedger(Array.from({ length: 8 }, (_, index): Ended => [`2026-11-0${index + 1}`]));
    expect((await check(path))[1]?.message).toMatch(/2026-11-04 \(collecting\) and 3 more$/);
  });
});

describe('a ledger that cannot be used', () => {
  it('is a file of another kind, which stays unchanged', async () => {
    const path = join(makeTemporaryFolder(), 'ledger.db');
    writeFileSync(path, 'a text of some length\n'.repeat(500));
    expect(await check(path)).toEqual([
      expect.objectContaining({
        verdict: 'wrong',
        message: expect.stringMatching(/expected an SQLite database/),
      }),
    ]);
    expect(readFileSync(path, 'utf8')).toContain('a text');
  });

  it('was written by a newer version', async () => {
    const path = await makeLedger([]);
    const database = openDatabase(path, { busyTimeoutMs: 0 });
    database.exec('PRAGMA user_version = 999');
    database.close();
    expect((await check(path))[0]).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/install the newer version/),
    });
  });

  it('is locked for longer than the timeout', async () => {
    // The driver keeps the locks of a closed ledger until it is garbage-collected, which would interfere here.
    const path = join(makeTemporaryFolder(), 'ledger.db');
    copyFileSync(await makeLedger([]), path);
    const database = openDatabase(path, { busyTimeoutMs: 0 });
    onTestFinished(() => database.close());
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const [finding] = await check(path, { busyTimeoutMs: 100 });
    expect(finding).toMatchObject({
      part: 'ledger',
      verdict: 'wrong',
      message: expect.stringMatching(/busy|locked/),
    });
  });
});
