import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase, type Value } from '../../src/ledger/sqlite/database.js';

describe('values that go through libsql', () => {
  let folder: string;
  let database: Database;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'database-'));
    database = openDatabase(join(folder, 'test.db'), { busyTimeoutMs: 0 });
    database.exec('CREATE TABLE things (number INTEGER, text TEXT, bytes BLOB) STRICT');
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const keep = (column: 'number' | 'text' | 'bytes', value: Value) =>
    database.transact(() => database.run(`INSERT INTO things (${column}) VALUES (?)`, value));
  const count = () => database.get('SELECT count(*) AS count FROM things')?.count;

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

    it('is each integer exactly, up to 2^53-1', () => {
      const numbers = [0, 1, -1, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1, -(2 ** 53 - 1)];
      for (const number of numbers) keep('number', number);
      expect(database.all('SELECT number FROM things').map(({ number }) => number)).toEqual(numbers);
      expect(database.get('SELECT typeof(max(number)) AS type FROM things')).toEqual({ type: 'integer' });
      for (const number of numbers) {
        expect(database.all('SELECT 1 FROM things WHERE number = ?', number)).toHaveLength(1);
      }
    });
  });
});
