import { chmodSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { identify } from '../../src/ledger/identity.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { openLedgerFile, tryLock } from '../../src/ledger/sqlite/ledger-file.js';
import { createSqliteStore } from '../../src/ledger/sqlite/sqlite-ledger.js';
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

    it('is in WAL mode, commits with synchronous FULL, and overwrites what it deletes', async () => {
      const file = openLedgerFile(opened.path, { isReader: false });
      const pragma = (name: string) => file.database.get(`PRAGMA ${name}`)?.[name];
      expect(pragma('journal_mode')).toBe('wal');
      expect(pragma('synchronous')).toBe(2);
      const { store } = createSqliteStore(file.database, { clock: () => 0 });
      await store.transactUnflushed(identify);
      expect(pragma('synchronous')).toBe(2);
      expect(pragma('secure_delete')).toBe(1);
      expect(pragma('page_size')).toBe(8192);
      expect(opened.openRaw().get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
      file.close();
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
