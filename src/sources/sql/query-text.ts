import type { BusinessDay } from '../../booking/business-day.js';
import { readDayBounds } from '../common/day-bounds.js';

/** MariaDB counts as MySQL. */
export type SqlDialect = 'postgres' | 'mysql';

interface DayQuery {
  /** One statement, cut where the day's values go: one part more than there are parameters. */
  readonly parts: readonly string[];
  /** What goes between the parts, in order; a name that occurs twice is there twice. */
  readonly parameters: readonly DayParameter[];
}

const letter = String.raw`[\p{L}_\u{80}-\u{10ffff}]`;
const wordPart = String.raw`[\p{L}\p{N}_\u{80}-\u{10ffff}]`;
const doubled = (quote: string) => `${quote}[^${quote}]*(?:${quote}${quote}[^${quote}]*)*${quote}`;
const escaped = (quote: string) =>
  String.raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*${quote}`;
const toLineEnd = String.raw`[^\r\n]*`;
const flatComment = String.raw`\/\*[\s\S]*?\*\/`;
/** The server executes the text of such a comment. */
const runComment = String.raw`\/\*M?!`;

interface Lexis {
  /** White space and comments. */
  readonly blank: string;
  /** Where names have no meaning: literals, quoted identifiers, and operators that look like the start of a name. */
  readonly opaque: string;
  /** What opens something opaque. Matched on its own, it was never closed. */
  readonly opening: string;
  /** The database's own placeholders, to which no value would be bound. */
  readonly foreign: string;
  readonly nestsComments: boolean;
}

const lexes: { readonly [dialect in SqlDialect]: Lexis } = {
  postgres: {
    blank: String.raw`\s+|--${toLineEnd}`,
    opaque: [
      `[eE]${escaped("'")}`,
      doubled("'"),
      doubled('"'),
      String.raw`\$(?<tag>(?:${letter}${wordPart}*)?)\$[\s\S]*?\$\k<tag>\$`,
      '::|:=',
    ].join('|'),
    opening: String.raw`[eE]?'|"|\$(?:${letter}${wordPart}*)?\$`,
    foreign: String.raw`\$\d+`,
    nestsComments: true,
  },
  mysql: {
    blank: String.raw`\s+|--(?=\s|$)${toLineEnd}|#${toLineEnd}|(?!${runComment})${flatComment}`,
    opaque: [escaped("'"), escaped('"'), doubled('`'), ':='].join('|'),
    opening: String.raw`['"${'`'}]|${runComment}|\/\*`,
    foreign: String.raw`\?`,
    nestsComments: false,
  },
};

function compile(dialect: SqlDialect): RegExp {
  const { blank, opaque, opening, foreign } = lexes[dialect];
  const kinds = [
    `(?<blank>${blank})`,
    `(?<opaque>${opaque})`,
    `(?<parameter>:${letter}${wordPart}*)`,
    `(?<foreign>${foreign})`,
    `(?<opening>${opening})`,
    '(?<end>;)',
    // A word is matched as a whole, so that no part of it is taken for the start of something else.
    `(?<word>${wordPart}(?:${wordPart}|\\$)*)`,
    String.raw`[\s\S]`,
  ];
  return new RegExp(kinds.join('|'), 'uy');
}

/**
 * Parses a query in which `:day`, `:dayStart` and `:dayEnd` stand for the business day, and cuts it there.
 * Literals, quoted identifiers, comments and casts (`::date`) stay as they are.
 *
 * @throws RangeError for any other name after a colon, one of the database's own placeholders, more than one statement, an
 *   unclosed literal or comment, effects that a read-only transaction doesn't prevent, and for a query without any of the
 *   three names: it would read everything every night
 */
export function parseDayQuery(query: string, dialect: SqlDialect): DayQuery {
  const token = compile(dialect);
  const parameters: DayParameter[] = [];
  const words: string[] = [];
  const parts: string[] = [];
  let text = '';
  let isOver = false;
  let at = 0;
  while (at < query.length) {
    const comment = lexes[dialect].nestsComments ? readNestedComment(query, at) : '';
    token.lastIndex = at;
    const match = comment === '' ? token.exec(query) : undefined;
    const whole = match?.[0] ?? comment;
    const kinds = match?.groups ?? {};
    at += whole.length;
    if (comment !== '' || kinds.blank !== undefined) {
      if (!isOver) text += whole;
      continue;
    }
    if (isOver) throw new RangeError('the query is more than one statement; expected one SELECT');
    if (kinds.end !== undefined) {
      isOver = true;
    } else if (kinds.parameter !== undefined) {
      parameters.push(readParameter(kinds.parameter));
      parts.push(text);
      text = '';
    } else {
      if (kinds.foreign !== undefined) refuseForeign(kinds.foreign);
      if (kinds.opening !== undefined) refuseOpening(kinds.opening);
      if (kinds.word !== undefined) words.push(whole);
      text += whole;
    }
  }
  if (dialect === 'mysql') refuseMysqlEffects(words);
  if (parameters.length === 0) {
    throw new RangeError(
      'the query has none of :day, :dayStart and :dayEnd outside of literals and comments: it would read the bookings of every day each night',
    );
  }
  return { parts: [...parts, text], parameters };
}

function readParameter(written: string): DayParameter {
  const name = written.slice(1);
  if (isDayParameter(name)) return name;
  throw new RangeError(`the query has ${written}; only ${list(dayParameters)} are known`);
}

function refuseForeign(placeholder: string): never {
  throw new RangeError(`the query has the placeholder ${placeholder}; write ${list(dayParameters)} instead`);
}

function refuseOpening(opening: string): never {
  if (opening.endsWith('!')) {
    throw new RangeError(`the query has a comment that the server runs (${opening} … */); leave it out`);
  }
  throw new RangeError(`the query has ${opening} that is never closed`);
}

/** PostgreSQL's comments nest. Empty if no comment begins here. */
function readNestedComment(query: string, from: number): string {
  if (!query.startsWith('/*', from)) return '';
  const sign = /\/\*|\*\//g;
  sign.lastIndex = from;
  let depth = 0;
  for (let match = sign.exec(query); match; match = sign.exec(query)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return query.slice(from, sign.lastIndex);
  }
  return refuseOpening('/*');
}

function list(names: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names.map((name) => `:${name}`));
}

/**
 * Rejects what MySQL allows even in a read-only transaction: changing settings and writing files on the server.
 * PostgreSQL can't bind values to such statements.
 *
 * @param words of the query, in order, outside literals and comments
 * @throws RangeError for a query that begins with SET or writes to a file
 */
function refuseMysqlEffects(words: readonly string[]): void {
  const upper = words.map((word) => word.toUpperCase());
  if (upper[0] === 'SET')
    throw new RangeError('the query begins with SET, which changes settings; expected one SELECT');
  const target = upper.find(
    (word, index) => ['OUTFILE', 'DUMPFILE'].includes(word) && upper[index - 1] === 'INTO',
  );
  if (target !== undefined) {
    throw new RangeError(
      `the query has INTO ${target}, which writes a file on the server; a source only reads`,
    );
  }
}

export const dayParameters = ['day', 'dayStart', 'dayEnd'] as const;

/**
 * `day` is the business day, `dayStart` its first instant, and `dayEnd` the first instant after it:
 * `>= :dayStart AND < :dayEnd` covers all of its 23, 24 or 25 hours.
 */
type DayParameter = (typeof dayParameters)[number];

function isDayParameter(name: string): name is DayParameter {
  return dayParameters.some((parameter) => parameter === name);
}

/**
 * Writes the query for one day. Its values are bound, except for PostgreSQL, where the text of a cursor is declared: there they are
 * literals without a type, which it treats like bound values.
 */
export function writeDayQuery(
  { parts, parameters }: DayQuery,
  day: Parameters<typeof writeDayParameter>[1],
  dialect: SqlDialect,
): { readonly text: string; readonly values: readonly string[] } {
  const values = parameters.map((parameter) => writeDayParameter(parameter, day, dialect));
  if (dialect !== 'postgres') return { text: parts.join('?'), values };
  const literals = values.map((value) => `('${value.replaceAll("'", "''")}')`);
  return { text: parts.map((part, index) => part + (literals[index] ?? '')).join(''), values: [] };
}

/**
 * Returns a parameter's value, always a text: the day as YYYY-MM-DD; an instant in UTC as ISO 8601 with milliseconds and Z,
 * or for MySQL, whose types don't accept Z, as YYYY-MM-DD HH:MM:SS.
 */
export function writeDayParameter(parameter: DayParameter, day: BusinessDay, dialect: SqlDialect): string {
  switch (parameter) {
    case 'day':
      return day.iso;
    case 'dayStart':
      return writeInstant(readDayBounds(day).start, dialect);
    case 'dayEnd':
      return writeInstant(readDayBounds(day).end, dialect);
  }
}

function writeInstant(instant: Date, dialect: SqlDialect): string {
  const iso = instant.toISOString();
  return dialect === 'mysql' ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : iso;
}
