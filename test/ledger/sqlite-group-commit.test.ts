import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseBusyError } from '../../src/ledger/errors.js';
import { createGroupCommit, type Database, openDatabase } from '../../src/ledger/sqlite/database.js';

let folder: string;
let database: Database;
let _commits: number;
let groupCommit: ReturnType<typeof createGroupCommit>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'group-commit-'));
  const path = join(folder, 'some.db');
  database = openDatabase(path, { busyTimeoutMs: 0 });
  database.exec('CREATE TABLE words (word TEXT NOT NULL UNIQUE)');
  _commits = 0;
  groupCommit = createGroupCommit({
    ...database,
    transact(work) {
      const result = database.transact(work);
      _commits += 1;
      return result;
    },
  });
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const add = (word: string) =>
  groupCommit.transact(() => {
    database.run('INSERT INTO words VALUES (?)', word);
    return word;
  });
const words = () => database.all('SELECT word FROM words ORDER BY rowid').map(({ word }) => word);

describe('writes requested in one turn', () => {
  it('resolve only when others can see them', async () => {
    const observer = openDatabase(join(folder, 'some.db'), { busyTimeoutMs: 0 });
    await Promise.all([add('a'), add('b')]);
    expect(observer.get('SELECT count(*) AS count FROM words')?.count).toBe(2);
    observer.close();
  });

  it('are undone individually when one of them fails', async () => {
    const outcomes = await Promise.allSettled([add('a'), add('a'), add('b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(words()).toEqual(['a', 'b']);
  });

  it('wait together for a busy database, not one after the other', async () => {
    const other = openDatabase(join(folder, 'some.db'), { busyTimeoutMs: 0 });
    other.exec('BEGIN IMMEDIATE');
    let tried = 0;
    groupCommit = createGroupCommit({
      ...database,
      transact(work) {
        tried += 1;
        return database.transact(work);
      },
    });
    const outcomes = await Promise.allSettled([add('a'), add('b')]);
    other.close();
    expect(outcomes.map((one) => one.status === 'rejected' && one.reason)).toEqual([
      expect.any(DatabaseBusyError),
      expect.any(DatabaseBusyError),
    ]);
    expect(tried).toBe(1);
  });
});
