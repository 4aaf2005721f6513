import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { leaseMs } from './jumping-workforce.js';
import { type CurrentLife, type Engine, selectBegun, toBegunStep } from './live.js';
import type { BegunStep } from './outside.js';

/** Each day begins with a ledger without runs. */
export const sqlite: Engine = createEngine(copyEmptyLedger);

/** Each day begins without a ledger. */
export const newSqlite: Engine = createEngine(() => {});

let emptyLedger: Buffer | undefined;

/** Creating a ledger takes longer than a day in it. */
async function copyEmptyLedger(path: string): Promise<void> {
  emptyLedger ??= await makeEmptyLedger();
  writeFileSync(path, emptyLedger, { mode: 0o600 });
}

async function makeEmptyLedger(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'empty-ledger-'));
  const path = join(folder, 'ledger.db');
  await openLedger(path, () => 0).close();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

function openLedger(path: string, clock: () => number): Ledger {
  return createSqliteLedger({
    ...{ path, clock, leaseMs },
  });
}

function createEngine(prepare: (path: string) => Promise<void> | void): Engine {
  return {
    commitsAtOnce: true,

    async openPlace(folder) {
      const path = join(folder, 'ledger.db');
      await prepare(path);
      return {
        address: `sqlite:${path}`,
        open: (clock) => openLedger(path, clock),
        bury: async () => readBegun(path),
        remove: async () => {},
      };
    },

    countCommits,
  };
}

function readBegun(path: string): BegunStep | undefined {
  const database = openDatabase(path, { busyTimeoutMs: 0 });
  try {
    const tables = database.all("SELECT name FROM sqlite_master WHERE name = 'steps'");
    if (tables.length === 0) return undefined;
    return toBegunStep(database.all(selectBegun()));
  } finally {
    database.close();
  }
}

/** The one way in which the ledger commits. */
function countCommits(current: () => CurrentLife): () => void {
  const { exec } = Libsql.prototype;
  Libsql.prototype.exec = function (this: Libsql.Database, sql: string) {
    if (sql !== 'COMMIT') return exec.call(this, sql);
    const { life, onCommit } = current();
    return life.passAtOnce('commit', () => {
      const done = exec.call(this, sql);
      onCommit();
      return done;
    });
  };
  return () => {
    Libsql.prototype.exec = exec;
  };
}
