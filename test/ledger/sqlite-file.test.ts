import { chmodSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { openLedgerFile, tryLock } from '../../src/ledger/sqlite/ledger-file.js';
import { collectedRun, day, newRun } from '../contracts/ledger/days.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

describe('the SQLite ledger', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  describe('its file', () => {
    it('is accessible to its owner only, as is the folder created for it', async () => {
      await collectedRun(opened.ledger, 'r1');
      await opened.ledger.holds.day(day);
      const folder = dirname(opened.path);
      const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
      expect(mode(folder)).toBe('700');
      expect(mode(`${opened.path}.locks`)).toBe('700');
      expect(mode(opened.path)).toBe('600');
      expect(readdirSync(folder).sort()).toEqual([
        'ledger.db',
        'ledger.db-shm',
        'ledger.db-wal',
        'ledger.db.locks',
      ]);
      for (const name of ['ledger.db-wal', 'ledger.db-shm']) expect(mode(join(folder, name))).toBe('600');
    });

    it('is restricted to its owner again when its mode was changed by hand', async () => {
      const files = [opened.path, `${opened.path}-wal`, `${opened.path}-shm`];
      for (const file of files) chmodSync(file, 0o644);
      await opened.reopen();
      for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    });

    it('is in WAL mode, commits with synchronous FULL, and overwrites what it deletes', () => {
      const file = openLedgerFile(opened.path, { isReader: false });
      const pragma = (name: string) => file.database.get(`PRAGMA ${name}`)?.[name];
      expect(pragma('journal_mode')).toBe('wal');
      expect(pragma('synchronous')).toBe(2);
      expect(pragma('secure_delete')).toBe(1);
      expect(pragma('page_size')).toBe(8192);
      expect(opened.openRaw().get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
      file.close();
    });

    it('refuses a row of a missing run', () => {
      const { database, close } = openLedgerFile(opened.path, { isReader: false });
      expect(() =>
        database.exec(`INSERT INTO rejects (run, place, reason) VALUES (99, 1, 'wrong-cell-count')`),
      ).toThrow(/FOREIGN KEY/);
      close();
    });

    it('lets one process checkpoint the WAL, and another once that one has exited', async () => {
      const share = (options: { isReader: boolean }) => {
        const file = openLedgerFile(opened.path, options);
        const pages = file.database.get('PRAGMA wal_autocheckpoint')?.wal_autocheckpoint;
        file.close();
        return pages;
      };
      expect(share({ isReader: false })).toBe(0);
      await opened.ledger.close();
      expect(share({ isReader: true })).toBe(0);
      expect(share({ isReader: false })).toBe(1000);
    });

    it('is opened at once while another process does the checkpoints', () => {
      const exec = vi.spyOn(Libsql.prototype, 'exec');
      onTestFinished(() => exec.mockRestore());
      openLedgerFile(opened.path, { isReader: false }).close();
      const connections = exec.mock.contexts;
      const refused = connections[exec.mock.results.findIndex(({ type }) => type === 'throw')];
      const statements = exec.mock.calls.flatMap(([sql], index) =>
        connections[index] === refused ? [sql] : [],
      );
      expect(statements).toEqual(['PRAGMA busy_timeout = 0', 'BEGIN IMMEDIATE']);
    });

    it('gets its checkpoints from one process, though another tries to do them at the same instant', async () => {
      await opened.ledger.close();
      const other = openDatabase(join(`${opened.path}.locks`, 'checkpoint.lock'), { busyTimeoutMs: 0 });
      onTestFinished(() => other.close());
      other.exec('BEGIN; SELECT * FROM sqlite_schema');
      const { database, close } = openLedgerFile(opened.path, { isReader: false });
      expect(database.get('PRAGMA wal_autocheckpoint')).toEqual({ wal_autocheckpoint: 1000 });
      close();
      other.exec('ROLLBACK');
    });
  });

  describe('its schema', () => {
    it('itself refuses a second active run of a day', async () => {
      await opened.ledger.runs.create(newRun('r1'));
      const raw = opened.openRaw();
      const insert = (id: string, state: string) =>
        raw.transact(() =>
          raw.run(
            `INSERT INTO runs (id, day, delivery, trigger, state, started_at) VALUES (?, ?, 'body', 'manual', ?, 1)`,
            id,
            day,
            state,
          ),
        );
      for (const state of ['collecting', 'delivering', 'awaiting-result']) {
        expect(() => insert(`second ${state}`, state)).toThrow(/UNIQUE/);
      }
      for (const state of ['succeeded', 'failed', 'cancelled']) expect(insert(state, state)).toBe(1);
    });

    it('itself refuses a second step with the same name, and an unknown state or stream', async () => {
      await collectedRun(opened.ledger, 'r1');
      const raw = opened.openRaw();
      const insert = (name: string, state: string) =>
        raw.transact(() =>
          raw.run(
            `INSERT INTO steps (run, name, position, kind, state, bookings) VALUES (1, ?, 9, 'batch', ?, 1)`,
            name,
            state,
          ),
        );
      expect(() => insert('batch 0', 'ready')).toThrow(/UNIQUE/);
      expect(() => insert('batch 9', 'asleep')).toThrow(/CHECK/);
      expect(() => raw.exec(`UPDATE runs SET state = 'paused'`)).toThrow(/CHECK/);
      expect(() => raw.exec(`UPDATE batches SET stream = 'fax'`)).toThrow(/CHECK/);
      expect(() => raw.exec(`UPDATE runs SET accepted = 'many'`)).toThrow(/INTEGER/);
    });

    it('is refused when a newer version wrote it, and the file is left unchanged', async () => {
      await opened.ledger.runs.create(newRun('r1'));
      await opened.ledger.close();
      const raw = opened.openRaw();
      const version = Number(raw.get('PRAGMA user_version')?.user_version);
      raw.exec('PRAGMA user_version = 99');
      await expect(opened.reopen()).rejects.toThrow(
        /ledger\.db cannot be used: expected schema \d+ or older, got: schema 99; install the newer version/,
      );
      const checkpointer = tryLock(`${opened.path}.locks`, 'checkpoint');
      expect(checkpointer, 'the refused opening holds no lock').toBeDefined();
      checkpointer?.release();
      raw.exec(`PRAGMA user_version = ${version}`);
      expect((await (await opened.reopen()).runs.get('r1')).id).toBe('r1');
    });
  });
});
