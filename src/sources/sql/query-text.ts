import type { BusinessDay } from '../../booking/business-day.js';
import { readDayBounds } from '../common/day-template.js';

/** MariaDB counts as MySQL. */
export type SqlDialect = 'postgres' | 'mysql';

const letter = String.raw`[\p{L}_\u{80}-\u{10ffff}]`;
const wordPart = String.raw`[\p{L}\p{N}_\u{80}-\u{10ffff}]`;
const doubled = (quote: string) => `${quote}[^${quote}]*(?:${quote}${quote}[^${quote}]*)*${quote}`;
const escaped = (quote: string) =>
  String.raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*${quote}`;
const toLineEnd = String.raw`[^\r\n]*`;
const tag = `(?:${letter}${wordPart}*)?`;
const flatComment = String.raw`\/\*[\s\S]*?\*\/`;
/** PostgreSQL's comments nest. Deeper than this, they are refused as never closed. */
const nestedComment = String.raw`\/\*(?:[^/*]|\/(?!\*)|\*(?!\/)|\/\*(?:[^/*]|\/(?!\*)|\*(?!\/))*\*\/)*\*\/`;
/** The server executes the text of such a comment. */
const runComment = String.raw`\/\*M?!`;

/**
 * By kind of token, the first match counts: white space and comments; where names have no meaning (literals, quoted identifiers,
 * and operators that look like the start of a name); the database's own placeholders, to which no value would be bound; and what
 * opens something opaque, which on its own was never closed.
 */
const lexes = {
  postgres: {
    blank: String.raw`\s+|--${toLineEnd}|${nestedComment}`,
    opaque: `[eE]${escaped("'")}|${doubled("'")}|${doubled('"')}|${String.raw`\$(?<tag>${tag})\$[\s\S]*?\$\k<tag>\$`}|::|:=`,
    foreign: String.raw`\$\d+`,
    opening: String.raw`[eE]?'|"|\$${tag}\$|\/\*`,
  },
  mysql: {
    blank: String.raw`\s+|--(?=\s|$)${toLineEnd}|#${toLineEnd}|(?!${runComment})${flatComment}`,
    opaque: `${escaped("'")}|${escaped('"')}|${doubled('`')}|:=`,
    foreign: String.raw`\?`,
    opening: String.raw`['"${'`'}]|${runComment}|\/\*`,
  },
} as const satisfies { readonly [dialect in SqlDialect]: Readonly<Record<string, string>> };

function compile(dialect: SqlDialect): RegExp {
  const { blank, opaque, foreign, opening } = lexes[dialect];
  const kinds = { blank, opaque, parameter: `:${letter}${wordPart}*`, foreign, opening, end: ';' };
  // A word is matched as a whole, so that no part of it is taken for the start of something else.
  const all = { ...kinds, word: `${wordPart}(?:${wordPart}|\\$)*`, other: String.raw`[\s\S]` };
  const groups = Object.entries(all).map(([kind, pattern]) => `(?<${kind}>${pattern})`);
  return new RegExp(groups.join('|'), 'gu');
}

/**
 * Parses a query in which `:day`, `:dayStart` and `:dayEnd` stand for the business day. Literals, quoted identifiers, comments and
 * casts (`::date`) stay as they are. Returns the query for a day: its values are literals without a type, which the databases
 * treat like bound values.
 *
 * @throws RangeError for any other name after a colon, one of the database's own placeholders, more than one statement, an
 *   unclosed literal or comment, effects that a read-only transaction doesn't prevent, and for a query without any of the
 *   three names: it would read everything every night
 */
export function parseDayQuery(query: string, dialect: SqlDialect): (day: BusinessDay) => string {
  const parts: ((day: BusinessDay) => string)[] = [];
  const words: string[] = [];
  let isOver = false;
  let namesDay = false;
  for (const { 0: text, groups: kind = {} } of query.matchAll(compile(dialect))) {
    const isBlank = kind.blank !== undefined;
    if (isOver && !isBlank) throw new RangeError('the query is more than one statement; expected one SELECT');
    isOver ||= kind.end !== undefined;
    if (isOver) continue;
    refuseForeign(kind);
    if (kind.word !== undefined) words.push(text.toUpperCase());
    const write = kind.parameter === undefined ? undefined : findParameter(text, dialect);
    namesDay ||= write !== undefined;
    parts.push(write ?? (() => text));
  }
  if (dialect === 'mysql') refuseMysqlEffects(words);
  if (!namesDay) {
    throw new RangeError(
      'the query has none of :day, :dayStart and :dayEnd outside of literals and comments: it would read the bookings of every day each night',
    );
  }
  return (day) => parts.map((write) => write(day)).join('');
}

const known = ':day, :dayStart, and :dayEnd';

function refuseForeign({ foreign, opening }: Readonly<Record<string, string | undefined>>): void {
  if (foreign !== undefined)
    throw new RangeError(`the query has the placeholder ${foreign}; write ${known} instead`);
  if (opening?.endsWith('!'))
    throw new RangeError(`the query has a comment that the server runs (${opening} … */); leave it out`);
  if (opening !== undefined) throw new RangeError(`the query has ${opening} that is never closed`);
}

/** `>= :dayStart AND < :dayEnd` covers all of the day's 23, 24 or 25 hours. */
function findParameter(written: string, dialect: SqlDialect): (day: BusinessDay) => string {
  switch (written) {
    case ':day':
      return ({ iso }) => `('${iso}')`;
    case ':dayStart':
      return (day) => writeInstant(readDayBounds(day).start, dialect);
    case ':dayEnd':
      return (day) => writeInstant(readDayBounds(day).end, dialect);
    default:
      throw new RangeError(`the query has ${written}; only ${known} are known`);
  }
}

/** In UTC. MySQL's types don't accept a Z. */
function writeInstant(instant: Date, dialect: SqlDialect): string {
  const iso = instant.toISOString();
  return dialect === 'mysql' ? `('${iso.slice(0, 10)} ${iso.slice(11, 19)}')` : `('${iso}')`;
}

/**
 * Rejects what MySQL allows even in a read-only transaction: changing settings and writing files on the server.
 *
 * @param words of the query, in order and in capitals, outside literals and comments
 */
function refuseMysqlEffects(words: readonly string[]): void {
  if (words[0] === 'SET')
    throw new RangeError('the query begins with SET, which changes settings; expected one SELECT');
  const [target] = / INTO (?:OUT|DUMP)FILE(?= )/.exec(` ${words.join(' ')} `) ?? [];
  if (target !== undefined) {
    throw new RangeError(`the query has${target}, which writes a file on the server; a source only reads`);
  }
}
