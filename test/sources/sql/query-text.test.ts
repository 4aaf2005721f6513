import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import {
  dayParameters,
  parseDayQuery,
  type SqlDialect,
  writeDayParameter,
  writeDayQuery,
} from '../../../src/sources/sql/query-text.js';

const dialects = ['postgres', 'mysql'] as const;
const everywhere = { numRuns: 300 };

describe('a query with the day in it', () => {
  it('is cut at each name, in order, and twice for one that occurs twice', () => {
    const query = 'SELECT * FROM b WHERE d = :day AND (t >= :dayStart AND t < :dayEnd OR s = :day)';
    const parameters = ['day', 'dayStart', 'dayEnd', 'day'];
    const parts = ['SELECT * FROM b WHERE d = ', ' AND (t >= ', ' AND t < ', ' OR s = ', ')'];
    for (const dialect of dialects) expect(parseDayQuery(query, dialect)).toEqual({ parts, parameters });
  });

  it.each([
    ['postgres', "':day'"],
    ['postgres', "'it''s :day'"],
    ['postgres', "'a backslash \\'"],
    ['postgres', "E'it\\'s :day'"],
    ['postgres', "e'two \\\\'"],
    ['postgres', '"a ""column"" :day"'],
    ['postgres', '$$ :day $ $$'],
    ['postgres', '$body$ :day $$ $other$ $body$'],
    ['postgres', '/* :day /* nested :day */ :day */'],
    ['postgres', '-- :day\n'],
    ['postgres', 'x::date'],
    ['postgres', 'f(a := 1)'],
    ['postgres', 'list[1:2]'],
    ['postgres', "data ? 'key'"],
    ['postgres', 'name$1'],
    ['mysql', "'it\\'s :day'"],
    ['mysql', "'it''s :day'"],
    ['mysql', '"a text :day"'],
    ['mysql', '`a ``column`` :day`'],
    ['mysql', '# :day\n'],
    ['mysql', '-- :day\n'],
    ['mysql', '/* :day /* */'],
    ['mysql', '@a := 1'],
    ['mysql', "'?'"],
  ] as const)('leaves unchanged, for %s, %s', (dialect, piece) => {
    expect(parseDayQuery(`SELECT ${piece} , :day`, dialect)).toEqual({
      parts: [`SELECT ${piece} , `, ''],
      parameters: ['day'],
    });
  });

  it.each([
    ['postgres', 'a-- b\n = :day', ['a-- b\n = ', '']],
    ['mysql', '5--:day', ['5--', '']],
    ['postgres', ':day::date', ['', '::date']],
    ['postgres', 'data#>:day', ['data#>', '']],
    ['postgres', '(:day)', ['(', ')']],
  ] as const)('finds the name, for %s, in %s', (dialect, piece, parts) => {
    expect(parseDayQuery(piece, dialect).parts).toEqual(parts);
  });

  it.each(dialects)('may end with a semicolon followed by comments (%s)', (dialect) => {
    const { parts } = parseDayQuery(
      'SELECT :day ; -- that was it\n /* really */ ;\n'.replace(' ;\n', '\n'),
      dialect,
    );
    expect(parts).toEqual(['SELECT ', ' ']);
  });

  it.each(dialects)('is refused if it is more than one statement (%s)', (dialect) => {
    expect(() => parseDayQuery('SELECT :day; DELETE FROM b', dialect)).toThrow('more than one statement');
    expect(() => parseDayQuery('SELECT :day;;', dialect)).toThrow('more than one statement');
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
    ['postgres', "'x"],
    ['postgres', "'x''"],
    ['postgres', "E'x\\'"],
    ['postgres', '"x'],
    ['postgres', '$$ x'],
    ['postgres', '$a$ x $$'],
    ['postgres', '/* x /* */'],
    ['mysql', "'x\\'"],
    ['mysql', '`x'],
    ['mysql', '/* x'],
  ] as const)('is refused if something is not closed: %s, %s', (dialect, piece) => {
    expect(() => parseDayQuery(`SELECT :day, ${piece}`, dialect)).toThrow('that is never closed');
  });

  it.each([
    ["SELECT :day INTO OUTFILE '/tmp/x'", 'has INTO OUTFILE, which writes a file on the server'],
    ["(SELECT :day) into/**/DumpFile '/tmp/x'", 'has INTO DUMPFILE, which writes a file on the server'],
    ['# first\nSET GLOBAL general_log = :day', 'begins with SET'],
    ["SELECT :day /*! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*! … */)'],
    ["SELECT :day /*!50100 INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*! … */)'],
    ["SELECT :day /*M! INTO OUTFILE '/tmp/x' */", 'a comment that the server runs (/*M! … */)'],
  ])('is refused for MySQL if it has effects despite a read-only transaction: %s', (query, words) => {
    expect(() => parseDayQuery(query, 'mysql')).toThrow(words);
  });

  it.each([
    "SELECT 'INTO OUTFILE /*! x */', `outfile`, outfile, :day -- INTO OUTFILE",
    'SELECT /*+ NO_INDEX_MERGE(b) */ :day INTO @found',
    'SELECT a.set, :day FROM a /* INTO OUTFILE */',
  ])('is not refused for MySQL for words that only look like it: %s', (query) => {
    expect(parseDayQuery(query, 'mysql').parameters).toEqual(['day']);
  });

  it('is parsed in linear time', () => {
    const quotes = "'".repeat(100_001);
    for (const dialect of dialects) {
      expect(() => parseDayQuery(`:day ${quotes}`, dialect)).toThrow('that is never closed');
      expect(parseDayQuery(`:day${' (x)'.repeat(50_000)}`, dialect).parameters).toEqual(['day']);
    }
  });

  it('keeps every character except the names, in any query', () => {
    const pieces = fc.constantFrom(
      "'",
      '"',
      '`',
      '\\',
      '$',
      '$$',
      ':',
      '::',
      '--',
      '/*',
      '*/',
      '\n',
      ';',
      'E',
      'a',
      '1',
      ' ',
      ':day',
      ':dayEnd',
      '?',
      '[',
      ']',
      '#',
      'é',
      '🏨',
    );
    fc.assert(
      fc.property(fc.constantFrom(...dialects), fc.array(pieces), (dialect, parts) => {
        const query = parts.join('');
        const parsed = tryParsing(query, dialect);
        if (parsed === undefined) return;
        // With the names put back in order, the parts must be the query again, except what follows its end.
        const names = parsed.parameters.map((name) => `:${name}`);
        const rebuilt = parsed.parts.map((part, index) => part + (names[index] ?? '')).join('');
        expect(query.startsWith(rebuilt)).toBe(true);
        expect(parsed.parts).toHaveLength(names.length + 1);
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

  it('are bound, except for PostgreSQL, where they are literals', () => {
    const day = createBusinessDay('2026-11-20', 'UTC');
    const query = 'SELECT :day, :dayEnd';
    expect(writeDayQuery(parseDayQuery(query, 'mysql'), day, 'mysql')).toEqual({
      text: 'SELECT ?, ?',
      values: ['2026-11-20', '2026-11-21 00:00:00'],
    });
    expect(writeDayQuery(parseDayQuery(query, 'postgres'), day, 'postgres')).toEqual({
      text: "SELECT ('2026-11-20'), ('2026-11-21T00:00:00.000Z')",
      values: [],
    });
  });

  it('only have digits and the punctuation of dates, for any day: nothing that could be SQL', () => {
    fc.assert(
      fc.property(days, zones, fc.constantFrom(...dialects), (iso, zone, dialect) => {
        for (const parameter of dayParameters) {
          expect(writeDayParameter(parameter, createBusinessDay(iso, zone), dialect)).toMatch(
            /^[\d :.TZ-]+$/,
          );
        }
      }),
      everywhere,
    );
  });

  it('would stay values even for an invalid day', () => {
    const day = { ...createBusinessDay('2026-11-20', 'UTC'), iso: "x'; DROP TABLE bookings; --" };
    const write = (dialect: SqlDialect) => writeDayQuery(parseDayQuery('SELECT :day', dialect), day, dialect);
    expect(write('mysql')).toEqual({ text: 'SELECT ?', values: [day.iso] });
    expect(write('postgres').text).toBe("SELECT ('x''; DROP TABLE bookings; --')");
  });

  it.each([
    ['2026-03-29', 23, '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 25, '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['2026-11-20', 24, '2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'],
  ])('of %s in Madrid are the bounds of its %i hours', (iso, hours, start, end) => {
    const day = createBusinessDay(iso, 'Europe/Madrid');
    expect(writeDayParameter('dayStart', day, 'postgres')).toBe(start);
    expect(writeDayParameter('dayEnd', day, 'postgres')).toBe(end);
    expect(writeDayParameter('dayEnd', day, 'mysql')).toBe(`${end.slice(0, 10)} ${end.slice(11, 19)}`);
    expect((Date.parse(end) - Date.parse(start)) / 3_600_000).toBe(hours);
  });

  it('span no instant for a day that its zone skipped', () => {
    const day = createBusinessDay('2011-12-30', 'Pacific/Apia');
    expect(writeDayParameter('dayStart', day, 'postgres')).toBe(writeDayParameter('dayEnd', day, 'postgres'));
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
