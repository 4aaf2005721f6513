import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseBusyError } from '../../src/ledger/errors.js';
import {
  createGroupCommit,
  type Database,
  openDatabase,
  type Value,
} from '../../src/ledger/sqlite/database.js';
import { type Child, startChild } from './child.js';

describe('the only place that uses libsql', () => {
  let folder: string;
  let path: string;
  let database: Database;
  const others: Database[] = [];
  const children: Child[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'database-'));
    path = join(folder, 'test.db');
    database = openDatabase(path, { busyTimeoutMs: 0 });
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('CREATE TABLE things (number INTEGER, text TEXT, bytes BLOB) STRICT');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill();
    for (const other of others.splice(0)) other.close();
    database.close();
    rmSync(folder, { recursive: true });
  });

  function openOther(): Database {
    const other = openDatabase(path, { busyTimeoutMs: 0 });
    others.push(other);
    return other;
  }

  const insertNumber = (value: Value) => database.run('INSERT INTO things (number) VALUES (?)', value);
  const count = () => database.get('SELECT count(*) AS count FROM things')?.count;

  describe('a transaction', () => {
    it('is rolled back completely when one of its statements is refused', () => {
      expect(() =>
        database.transact(() => {
          insertNumber(1);
          insertNumber(true as unknown as Value);
        }),
      ).toThrow(TypeError);
      expect(() =>
        database.transact(() => {
          insertNumber(1);
          insertNumber('many');
        }),
      ).toThrow(/INTEGER/);
      expect(count()).toBe(0);
    });

    it('of a group tells nobody that it is done before its commit', async () => {
      const failure = new DatabaseBusyError('the disk is full');
      const { transact } = createGroupCommit({
        ...database,
        transact(work) {
          database.transact(work);
          throw failure;
        },
      });
      const asked = [1, 2].map((number) => transact(() => insertNumber(number)));
      const refused = { status: 'rejected', reason: failure };
      expect(await Promise.allSettled(asked)).toEqual([refused, refused]);
    });

    it('is not reentrant: one inside another throws, and both are undone', () => {
      expect(() =>
        database.transact(() => {
          insertNumber(1);
          database.transact(() => insertNumber(2));
        }),
      ).toThrow(/transaction within a transaction/);
      expect(count()).toBe(0);
      database.transact(() => insertNumber(3));
      expect(count()).toBe(1);
    });

    it('reports that the database is busy when another connection writes, and both can be used afterwards', () => {
      const holder = openOther();
      let isPerformed = false;
      holder.exec('BEGIN IMMEDIATE');
      holder.run('INSERT INTO things (number) VALUES (?)', 1);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect(() =>
          database.transact(() => {
            isPerformed = true;
          }),
        ).toThrow(DatabaseBusyError);
      }
      expect(isPerformed).toBe(false);
      expect(count()).toBe(0);
      holder.exec('COMMIT');
      database.transact(() => insertNumber(2));
      holder.transact(() => holder.run('INSERT INTO things (number) VALUES (?)', 3));
      database.transact(() => insertNumber(4));
      expect(count()).toBe(4);
      expect(holder.get('SELECT count(*) AS count FROM things')).toEqual({ count: 4 });
    });

    it('of reads sees one moment, whatever another connection commits meanwhile', () => {
      const other = openOther();
      const seen = database.readTogether(() => {
        const before = count();
        other.transact(() => other.run('INSERT INTO things (number) VALUES (?)', 1));
        return [before, count()];
      });
      expect(seen).toEqual([0, 0]);
      expect(count()).toBe(1);
    });

    it('is required for a write: a write that got BUSY outside one would block every later commit', () => {
      const insert = 'INSERT INTO things (number) VALUES (?)';
      expect(() => database.run(insert, 1)).toThrow(`expected an open transaction for ${insert}`);
      expect(count()).toBe(0);
      database.transact(() => insertNumber(2));
      expect(count()).toBe(1);
    });
  });

  describe('opening and closing', () => {
    it.each(['WAL', 'DELETE'])(
      'releases every lock when it is closed, even in the middle of a transaction (%s)',
      async (mode) => {
        database.exec(`PRAGMA journal_mode = ${mode}`);
        const closing = openOther();
        closing.transact(() => closing.run('INSERT INTO things (number) VALUES (?)', 1));
        closing.all('SELECT * FROM things');
        closing.exec('BEGIN IMMEDIATE');
        closing.run('INSERT INTO things (number) VALUES (?)', 2);
        closing.close();
        const child = startChild(
          `const { openDatabase } = await import(built + 'database.js');
           const database = openDatabase(${JSON.stringify(path)}, { busyTimeoutMs: 0 });
           database.transact(() => database.run('INSERT INTO things (number) VALUES (3)'));
           console.log('written');`,
        );
        children.push(child);
        await child.printed('written');
        expect(database.all('SELECT number FROM things')).toEqual([{ number: 1 }, { number: 3 }]);
      },
    );
  });

  const keep = (column: 'number' | 'text' | 'bytes', value: Value) =>
    database.transact(() => database.run(`INSERT INTO things (${column}) VALUES (?)`, value));

  describe('what is bound', () => {
    it.each([
      ['a boolean', true],
      ['a bigint', 5n],
      ['NaN', Number.NaN],
      ['a number that is no integer', 0.5],
      ['an integer that is not exact', 2 ** 53],
    ])('refuses %s before libsql sees it', (_, value) => {
      // TypeScript would not allow these, but JSON, a database or a cast can produce them.
      expect(() => keep('text', value as Value)).toThrow(TypeError);
      expect(count()).toBe(0);
    });

    it.each([
      ['a text with a NUL in its middle', 'Ana\0Gil'],
      ['a high surrogate alone', 'Ana \ud83d Gil'],
    ])('refuses %s, and does not quote it', (_, text) => {
      expect(() => keep('text', text)).toThrow(TypeError);
      expect(() => keep('text', text)).toThrow(/^(?!.*Ana)/s);
      expect(count()).toBe(0);
    });

    it('refuses too few values, which libsql would complete with those of the last call', () => {
      const insert = 'INSERT INTO things (number, text) VALUES (?, ?)';
      database.transact(() => database.run(insert, 1, 'one'));
      expect(() => database.run(insert, 2)).toThrow('expected 2 values, got: 1');
      expect(() => database.run(insert)).toThrow('expected 2 values, got: 0');
      expect(database.all('SELECT number, text FROM things')).toEqual([{ number: 1, text: 'one' }]);
    });

    it('refuses too many values, which libsql would ignore', () => {
      expect(() => database.run('INSERT INTO things (number) VALUES (?)', 1, 2)).toThrow(
        'expected 1 values, got: 2',
      );
      expect(() => database.all('SELECT * FROM things', 1)).toThrow('expected 0 values, got: 1');
      expect(count()).toBe(0);
    });

    it('refuses bytes for a text column, so that no invalid UTF-8 can come back', () => {
      expect(() => keep('text', Buffer.from([0xff, 0xfe]))).toThrow(/cannot store BLOB/);
      expect(count()).toBe(0);
    });
  });

  describe('what comes back', () => {
    it('is only the viewed part when the bytes are a view of a larger buffer', () => {
      const memory = Buffer.from('before|meant|after');
      keep('bytes', memory.subarray(7, 12));
      keep('bytes', new Uint8Array(memory).subarray(7, 12));
      keep('bytes', Buffer.alloc(0));
      expect(database.all('SELECT bytes FROM things').map(({ bytes }) => String(bytes))).toEqual([
        'meant',
        'meant',
        '',
      ]);
    });
  });
});
