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
  const insertNumber = (value: Value) => database.run('INSERT INTO things (number) VALUES (?)', value);
  const count = () => database.get('SELECT count(*) AS count FROM things')?.count;

  describe('what is bound', () => {
    it.each([
      ['a boolean', true],
      ['undefined', undefined],
      ['a bigint', 5n],
      ['NaN', Number.NaN],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['a number that is no integer', 0.5],
      ['an integer that is not exact', 2 ** 53],
      ['a date', new Date(0)],
      ['an array', ['a']],
      ['an object of named values', { a: 1 }],
      ['an ArrayBuffer', new ArrayBuffer(2)],
      ['a function', () => 1],
    ])('refuses %s before libsql sees it', (_, value) => {
      // TypeScript would not allow these, but JSON, a database or a cast can produce them.
      expect(() => keep('text', value as Value)).toThrow(TypeError);
      expect(count()).toBe(0);
    });

    it.each([
      ['a text with a NUL in its middle', 'Ana\0Gil'],
      ['a text with a NUL at its end', 'Ana Gil\0'],
      ['a high surrogate alone', 'Ana \ud83d Gil'],
      ['a low surrogate alone', 'Ana Gil \ude00'],
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

    it('is checked for reads and writes', () => {
      expect(() => database.get('SELECT 1 WHERE 1 = ?', true as unknown as Value)).toThrow(TypeError);
      expect(() => database.all('SELECT ? AS text', 'a\0b')).toThrow(TypeError);
    });

    it('is not quoted in error messages', () => {
      expect(() => database.run('INSERT INTO things (text) VALUES (?)', 'Ana Gil', 'more')).toThrow(
        /^(?!.*Ana)/s,
      );
      expect(() => keep('number', 'Ana Gil')).toThrow(/^(?!.*Ana)/s);
    });
  });

  describe('what comes back', () => {
    it('is the same bytes, as a Buffer, even for a single Buffer', () => {
      const bytes = Buffer.from([0, 1, 0xff, 0xfe, 0x0a]);
      keep('bytes', bytes);
      expect(database.get('SELECT bytes FROM things')?.bytes).toEqual(bytes);
      expect(database.all('SELECT bytes FROM things')[0]?.bytes).toBeInstanceOf(Buffer);
      expect(database.get('SELECT number FROM things WHERE bytes = ?', bytes)).toEqual({ number: null });
    });

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

    it('is a row with its columns only', () => {
      keep('text', 'a');
      const row = database.get('SELECT text FROM things');
      expect(Object.keys(row ?? {})).toEqual(['text']);
      expect(row).toEqual({ text: 'a' });
      expect(JSON.stringify(row)).toBe('{"text":"a"}');
    });

    it('is undefined, or an empty list, if there is no row', () => {
      expect(database.get('SELECT * FROM things')).toBeUndefined();
      expect(database.all('SELECT * FROM things')).toEqual([]);
    });

    it('is every row, however many', () => {
      for (const rows of [99, 100, 101, 1_000]) {
        database.exec('DELETE FROM things');
        database.transact(() => {
          for (let number = 0; number < rows; number += 1) insertNumber(number);
        });
        const numbers = database.all('SELECT number FROM things ORDER BY number').map((row) => row.number);
        expect(numbers).toEqual(Array.from({ length: rows }, (_, number) => number));
      }
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

    it('is the text unchanged, whatever it looks like', () => {
      const texts = [
        '007',
        '5',
        '5.0',
        '1e3',
        '-0',
        '0x10',
        ' 7 ',
        '',
        'null',
        'é 😀 \u2028 \ufeff',
        "'; --",
        '?',
      ];
      for (const text of texts) keep('text', text);
      expect(database.all('SELECT text FROM things').map(({ text }) => text)).toEqual(texts);
      expect(database.all('SELECT DISTINCT typeof(text) AS type FROM things')).toEqual([{ type: 'text' }]);
      for (const text of texts) {
        expect(database.all('SELECT 1 FROM things WHERE text = ?', text)).toHaveLength(1);
      }
    });

    it('is the number of rows that a statement changed', () => {
      keep('number', 1);
      keep('number', 2);
      database.transact(() => {
        expect(database.run('UPDATE things SET number = number + 1')).toBe(2);
        expect(database.run('UPDATE things SET number = 9 WHERE number = ?', 2)).toBe(1);
        expect(database.run('DELETE FROM things WHERE number = ?', 7)).toBe(0);
      });
    });
  });
});
