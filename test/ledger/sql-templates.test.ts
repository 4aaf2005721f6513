import { describe, expect, it } from 'vitest';
import { createRenderer, sql } from '../../src/ledger/query.js';
import { count, table, text } from '../../src/ledger/table.js';

const runs = table('runs', { id: text(), day: text(), tries: count });

const forSqlite = createRenderer(
  (name) => name,
  () => '?',
);
const forPostgres = createRenderer(
  (name) => `ours.${name}`,
  (number) => `$${number}`,
);

describe('a statement as a template', () => {
  it('binds values, names tables and takes parts, as each database writes them', () => {
    const isOfDay = sql`day = ${'2026-11-20'}`;
    const statement = sql`SELECT ${runs.names} FROM ${runs} WHERE ${isOfDay} AND tries < ${3} LIMIT ${1}`;
    const values = ['2026-11-20', 3, 1];
    expect(forSqlite(statement)).toEqual({
      text: 'SELECT id, day, tries FROM runs WHERE day = ? AND tries < ? LIMIT ?',
      values,
    });
    expect(forPostgres(statement)).toEqual({
      text: 'SELECT id, day, tries FROM ours.runs WHERE day = $1 AND tries < $2 LIMIT $3',
      values,
    });
  });

  it('is made of as many conditions as there are', () => {
    const rendered = (day?: string, limit?: number) =>
      forPostgres(
        sql`WHERE ${sql.and([day !== undefined && sql`day = ${day}`, limit !== undefined && sql`n < ${limit}`])}`,
      );
    expect(rendered()).toEqual({ text: 'WHERE true', values: [] });
    expect(rendered('d')).toEqual({ text: 'WHERE day = $1', values: ['d'] });
    expect(rendered(undefined, 2)).toEqual({ text: 'WHERE n < $1', values: [2] });
    expect(rendered('d', 2)).toEqual({ text: 'WHERE day = $1 AND n < $2', values: ['d', 2] });
  });

  it('sets the fields of a patch: null clears one, and an absent one stays', () => {
    const set = runs.assign({ tries: 2, day: null, id: undefined });
    expect(runs.assign({ id: undefined })).toBeUndefined();
    expect(forPostgres(sql`UPDATE ${runs} SET ${set ?? ''} WHERE id = ${'r'}`)).toEqual({
      text: 'UPDATE ours.runs SET day = $1, tries = $2 WHERE id = $3',
      values: [null, 2, 'r'],
    });
  });
});
