import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { newRun } from '../contracts/ledger/days.js';

const openSqlite = (path: string) => createSqliteLedger({ path, clock: Date.now });

const names = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'];

function makeFolder(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'replaced-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return (name) => join(folder, name);
}

/** A ledger with a run of each of the first days. */
async function makeLedger(path: string, days: number) {
  const ledger = openSqlite(path);
  onTestFinished(() => ledger.close());
  for (const day of names.slice(0, days)) await ledger.runs.create({ ...newRun(`run-of-${day}`), day });
  return ledger;
}

function copyWhole(from: string, to: string): void {
  const database = openDatabase(from, { busyTimeoutMs: 1_000 });
  database.exec(`VACUUM INTO '${to}'`);
  database.close();
}

it.each([false, true])(
  'an older copy beside the log of a later one is refused, and left as it is; reader: %s',
  async (isReader) => {
    const at = makeFolder();
    const ledger = await makeLedger(at('ledger.db'), 1);
    copyWhole(at('ledger.db'), at('restored.db'));
    for (const day of names.slice(1)) await ledger.runs.create({ ...newRun(`run-of-${day}`), day });
    copyFileSync(at('ledger.db-wal'), at('restored.db-wal'));
    const before = readFileSync(at('restored.db'));
    const open = () => openLedgerFile(at('restored.db'), { isReader });
    expect(open).toThrow(
      /restored\.db cannot be used: .*stop all processes .* without the .*restored\.db-wal/,
    );
    expect(readFileSync(at('restored.db')).equals(before)).toBe(true);
    // The refused connection stays open until its process ends.
    copyFileSync(at('restored.db'), at('alone.db'));
    expect(await openSqlite(at('alone.db')).runs.list({ limit: 10 })).toHaveLength(1);
  },
);

it('what a killed process left in the log is found again', async () => {
  const at = makeFolder();
  const ledger = await makeLedger(at('ledger.db'), 3);
  copyFileSync(at('ledger.db'), at('left.db'));
  copyFileSync(at('ledger.db-wal'), at('left.db-wal'));
  expect(await ledger.runs.list({ limit: 10 })).toHaveLength(3);
  expect(await openSqlite(at('left.db')).runs.list({ limit: 10 })).toHaveLength(3);
});

it('the log of another ledger is refused, and the file is left as it is', async () => {
  const at = makeFolder();
  await makeLedger(at('one.db'), 2);
  const other = await makeLedger(at('other.db'), 1);
  await other.runs.create({ ...newRun('more'), day: names[2] ?? '' });
  copyWhole(at('one.db'), at('restored.db'));
  copyFileSync(at('other.db-wal'), at('restored.db-wal'));
  const before = readFileSync(at('restored.db'));
  expect(() => openSqlite(at('restored.db'))).toThrow(/restored\.db-wal/);
  expect(readFileSync(at('restored.db')).equals(before)).toBe(true);
  // The refused connection stays open until its process ends.
  copyFileSync(at('restored.db'), at('alone.db'));
  expect(await openSqlite(at('alone.db')).runs.list({ limit: 10 })).toHaveLength(2);
});

it.each<[string, (path: string, copy: string) => void, RegExp]>([
  ['deleted', (path) => rmSync(path), /got: no file/],
  ['replaced', (path, copy) => renameSync(copy, path), /got: another file/],
  [
    'overwritten in place',
    (path, copy) => writeFileSync(path, readFileSync(copy)),
    /got: an older copy of this ledger/,
  ],
])('a ledger whose file is %s while it is open records nothing more', async (_, lose, reason) => {
  const at = makeFolder();
  const before = await makeLedger(at('ledger.db'), 1);
  copyWhole(at('ledger.db'), at('copy.db'));
  await before.runs.create({ ...newRun('more'), day: names[1] ?? '' });
  await before.close();
  const ledger = openSqlite(at('ledger.db'));
  onTestFinished(() => ledger.close());
  await ledger.verify();
  lose(at('ledger.db'), at('copy.db'));
  await expect(ledger.verify()).rejects.toThrow(reason);
  await expect(ledger.ping()).rejects.toThrow(reason);
  await expect(ledger.runs.create({ ...newRun('late'), day: names[2] ?? '' })).rejects.toThrow(reason);
});
