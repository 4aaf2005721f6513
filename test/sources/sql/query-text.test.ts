import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { parseDayQuery, type SqlDialect } from '../../../src/sources/sql/query-text.js';

const dialects = ['postgres', 'mysql'] as const;
const day = createBusinessDay('2026-11-20', 'UTC');
/** What stands for the three names on that day. */
const value = "('2026-11-20')";
const write = (query: string, dialect: SqlDialect) => parseDayQuery(query, dialect)(day);

describe('a query with the day in it', () => {
  it('has literals without a type where the names stood, of which only those of MySQL lack a zone', () => {
    const query = 'SELECT * FROM b WHERE d = :day AND (t >= :dayStart AND t < :dayEnd OR s = :day)';
    expect(write(query, 'postgres')).toBe(
      `SELECT * FROM b WHERE d = ${value} AND (t >= ('2026-11-20T00:00:00.000Z') AND t < ('2026-11-21T00:00:00.000Z') OR s = ${value})`,
    );
    expect(write(query, 'mysql')).toBe(
      `SELECT * FROM b WHERE d = ${value} AND (t >= ('2026-11-20 00:00:00') AND t < ('2026-11-21 00:00:00') OR s = ${value})`,
    );
  });

  it.each([
    ['postgres', "'it''s :day'"],
    ['postgres', "'a backslash \\'"],
    ['postgres', "E'it\\'s :day'"],
    ['postgres', '"a ""column"" :day"'],
    ['postgres', '$body$ :day $$ $other$ $body$'],
    ['postgres', '/* :day /* nested :day */ :day */'],
    ['postgres', 'x::date'],
    ['postgres', 'f(a := 1)'],
    ['postgres', "data ? 'key'"],
    ['mysql', "'it\\'s :day'"],
    ['mysql', '`a ``column`` :day`'],
    ['mysql', '# :day\n'],
    ['mysql', '-- :day\n'],
    ['mysql', '@a := 1'],
  ] as const)('leaves unchanged, for %s, %s', (dialect, piece) => {
    expect(write(`SELECT ${piece} , :day`, dialect)).toBe(`SELECT ${piece} , ${value}`);
  });

  it.each([
    ['postgres', 'a-- b\n = :day'],
    ['mysql', '5--:day'],
    ['postgres', ':day::date'],
  ] as const)('finds the name, for %s, in %s', (dialect, piece) => {
    expect(write(piece, dialect)).toBe(piece.replace(':day', value));
  });

  it.each(dialects)('is refused if it is more than one statement (%s)', (dialect) => {
    expect(() => parseDayQuery('SELECT :day; DELETE FROM b', dialect)).toThrow('more than one statement');
    expect(() => parseDayQuery('SELECT :day;;', dialect)).toThrow('more than one statement');
    expect(write('SELECT :day ; -- that was it\n /* really */\n', dialect)).toBe(`SELECT ${value} `);
  });

  it.each(dialects)('is refused for an unknown name, which is reported (%s)', (dialect) => {
    expect(() => parseDayQuery('SELECT :day, :Day', dialect)).toThrow('the query has :Day');
    expect(() => parseDayQuery('SELECT :dayStarts', dialect)).toThrow('the query has :dayStarts');
  });

  it.each(dialects)('is refused without any of the three: it would read everything (%s)', (dialect) => {
    for (const query of ['', 'SELECT 1', "SELECT ':day'", 'SELECT 1 -- :day']) {
      expect(() => parseDayQuery(query, dialect)).toThrow('none of :day, :dayStart and :dayEnd');
    }
  });

  it.each([
    ['postgres', '$2'],
    ['mysql', '?'],
  ] as const)('is refused with a placeholder of the database’s own: %s, %s', (dialect, placeholder) => {
    expect(() => parseDayQuery(`SELECT :day, ${placeholder}`, dialect)).toThrow(
      `the placeholder ${placeholder}`,
    );
  });

  it.each([
    ['postgres', "'x''"],
    ['postgres', "E'x\\'"],
    ['postgres', '$$ x'],
    ['postgres', '/* three /* levels /* of */ a */ comment */'],
    ['mysql', "'x\\'"],
    ['mysql', '`x'],
  ] as const)('is refused if something is not closed: %s, %s', (dialect, piece) => {
    expect(() => parseDayQuery(`SELECT :day, ${piece}`, dialect)).toThrow('that is never closed');
  });

  it.each([
    ["SELECT :day INTO OUTFILE '/tmp/x'", 'has INTO OUTFILE, which writes a file on the server'],
    ["(SELECT :day) into/**/DumpFile '/tmp/x'", 'has INTO DUMPFILE, which writes a file on the server'],
    ['# first\nSET GLOBAL general_log = :day', 'begins with SET'],
    ["SELECT :day /*! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*! … */)'],
    ["SELECT :day /*M! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*M! … */)'],
  ])('is refused for MySQL if it has effects despite a read-only transaction: %s', (query, words) => {
    expect(() => parseDayQuery(query, 'mysql')).toThrow(words);
  });

  it.each([
    "SELECT 'INTO OUTFILE /*! x */', `outfile`, outfile, :day -- INTO OUTFILE",
    'SELECT /*+ NO_INDEX_MERGE(b) */ :day INTO @found',
  ])('is not refused for MySQL for words that only look like it: %s', (query) => {
    expect(write(query, 'mysql')).toBe(query.replace(':day', value));
  });

  it('is parsed in linear time', () => {
    const quotes = "'".repeat(100_001);
    for (const dialect of dialects) {
      expect(() => parseDayQuery(`:day ${quotes}`, dialect)).toThrow('that is never closed');
      expect(write(`:day${' (x)'.repeat(50_000)}`, dialect)).toContain(value);
      expect(write(`:day /* ${'x'.repeat(1_000_000)} */`, dialect)).toContain(value);
    }
  });

  it('keeps every character except the names, in any query', () => {
    const pieces = fc.constantFrom(
      ...`' " \` \\ $ $$ : :: -- /* */ ; E a 1 :day :dayEnd ? [ ] # é 🏨`.split(' '),
      ...[' ', '\n'],
    );
    fc.assert(
      fc.property(fc.constantFrom(...dialects), fc.array(pieces), (dialect, parts) => {
        const query = parts.join('');
        const parsed = tryParsing(query, dialect);
        const end = dialect === 'mysql' ? "('2026-11-21 00:00:00')" : "('2026-11-21T00:00:00.000Z')";
        if (parsed === undefined) return;
        // With the names put back, it must be the query again, except what follows its end.
        const rebuilt = parsed(day).replaceAll(value, ':day').replaceAll(end, ':dayEnd');
        expect(query.startsWith(rebuilt)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('the values of a day', () => {
  const days = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Madrid',
    'Pacific/Apia',
    'America/Sao_Paulo',
    'Asia/Kathmandu',
  );

  it('only have digits and the punctuation of dates, for any day: nothing that could be SQL', () => {
    fc.assert(
      fc.property(days, zones, fc.constantFrom(...dialects), (iso, zone, dialect) => {
        const written = parseDayQuery(':day:dayStart:dayEnd', dialect)(createBusinessDay(iso, zone));
        expect(written).toMatch(/^(?:\('[\d :.TZ-]+'\)){3}$/);
      }),
      { numRuns: 300 },
    );
  });

  it('span no instant for a day that its zone skipped', () => {
    const skipped = createBusinessDay('2011-12-30', 'Pacific/Apia');
    const [start, end] = [':dayStart', ':dayEnd'].map((name) => parseDayQuery(name, 'postgres')(skipped));
    expect(start).toBe(end);
  });
});

function tryParsing(query: string, dialect: SqlDialect) {
  try {
    return parseDayQuery(query, dialect);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
