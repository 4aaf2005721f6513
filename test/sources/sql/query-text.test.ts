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

  it.each(dialects)('may end with a semicolon and comments (%s)', (dialect) => {
    expect(write('SELECT :day ; -- that was it\n /* really */\n', dialect)).toBe(`SELECT ${value} `);
  });

  const none = 'none of :day, :dayStart and :dayEnd';
  const unclosed = 'that is never closed';
  it.each<[SqlDialect | 'both', string, string]>([
    ['both', 'SELECT :day; DELETE FROM b', 'more than one statement'],
    ['both', 'SELECT :day;;', 'more than one statement'],
    ['both', 'SELECT :day, :Day', 'the query has :Day'],
    ['both', 'SELECT :dayStarts', 'the query has :dayStarts'],
    // It would read everything.
    ['both', '', none],
    ['both', 'SELECT 1', none],
    ['both', "SELECT ':day'", none],
    ['both', 'SELECT 1 -- :day', none],
    // A placeholder of the database’s own.
    ['postgres', 'SELECT :day, $2', 'the placeholder $2'],
    ['mysql', 'SELECT :day, ?', 'the placeholder ?'],
    ['postgres', "SELECT :day, 'x''", unclosed],
    ['postgres', "SELECT :day, E'x\\'", unclosed],
    ['postgres', 'SELECT :day, $$ x', unclosed],
    ['postgres', 'SELECT :day, /* three /* levels /* of */ a */ comment */', unclosed],
    ['mysql', "SELECT :day, 'x\\'", unclosed],
    ['mysql', 'SELECT :day, `x', unclosed],
    // What has effects despite a read-only transaction.
    ['mysql', "SELECT :day INTO OUTFILE '/tmp/x'", 'has INTO OUTFILE, which writes a file on the server'],
    ['mysql', "(SELECT :day) into/**/DumpFile '/tmp/x'", 'has INTO DUMPFILE, which writes a file on the'],
    ['mysql', '# first\nSET GLOBAL general_log = :day', 'begins with SET'],
    ['mysql', "SELECT :day /*! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*! … */)'],
    ['mysql', "SELECT :day /*M! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*M! … */)'],
  ])('is refused for %s: %s', (dialect, query, words) => {
    for (const one of dialect === 'both' ? dialects : [dialect])
      expect(() => parseDayQuery(query, one)).toThrow(words);
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
