import { unknownDatabase } from '../../config/placeholders.js';
import { checkAnswer } from '../answers/check-answer.js';
import type { QueryAnswer, SqlAnswers } from '../answers/source-answers.js';
import type { InitOptions } from '../init-options.js';
import type { Questions } from './questions.js';

/** What the address of each kind looks like; the query is read by its rules until it is known. */
const forms = {
  postgres: 'postgres://USER:PASSWORD@HOST:5432/DATABASE',
  mysql: 'mysql://USER:PASSWORD@HOST:3306/DATABASE',
} as const;

/** Asks for a database and the query of a day. */
export async function askDatabase(options: InitOptions, questions: Questions): Promise<SqlAnswers> {
  const { address, rules } = await askAddress(options, questions);
  const query = await askQuery(options, questions, address ?? rules);
  return { kind: 'sql', file: isFile(address) ? address : undefined, query };
}

interface DatabaseAddress {
  readonly address: string | undefined;
  /** The address by whose rules a query is read while there is none. */
  readonly rules: string;
}

async function askAddress({ url }: InitOptions, questions: Questions): Promise<DatabaseAddress> {
  const given = questions.takes(url);
  if (given !== undefined) {
    if (!isFile(given)) questions.keep('sourceUrl', given);
    return { address: given, rules: given };
  }
  const known = questions.known('sourceUrl');
  if (known !== undefined) return { address: known, rules: known };
  const kind = await questions.choose('database', undefined, {
    message: 'Which database?',
    choices: [
      { value: 'postgres', label: 'PostgreSQL' },
      { value: 'mysql', label: 'MySQL or MariaDB' },
      { value: 'sqlite', label: 'A file of SQLite' },
    ],
    fallback: 'postgres',
  });
  if (kind === 'sqlite') {
    const path = await questions.text({
      name: 'sqlitePath',
      message: 'The file of the database',
      fallback: 'bookings.db',
      isPath: true,
      check: (typed) => checkAnswer('sourceUrl', `sqlite:${typed}`),
    });
    const address = `sqlite:${path ?? 'bookings.db'}`;
    return { address, rules: address };
  }
  const address = await questions.secret({
    secret: 'sourceUrl',
    name: 'sourceUrl',
    message: `Its address, ${forms[kind]} (hidden; empty: later)`,
  });
  return { address, rules: kind === 'mysql' ? 'mysql://localhost/bookings' : unknownDatabase };
}

async function askQuery(
  { query, queryFile }: InitOptions,
  questions: Questions,
  database: string,
): Promise<QueryAnswer | undefined> {
  const answer = await questions.text({
    name: 'query',
    given: query ?? queryFile,
    message: 'The query, on one line, with :day or :dayStart and :dayEnd; or its .sql file (empty: later)',
    isPath: true,
    check: (typed) =>
      isQueryFile(typed) ? checkAnswer('queryFile', typed) : checkAnswer('query', typed, database),
  });
  if (answer === undefined) return undefined;
  return answer === queryFile || (answer !== query && isQueryFile(answer))
    ? { kind: 'file', path: answer }
    : { kind: 'text', text: answer };
}

function isFile(address: string | undefined): address is string {
  return address?.startsWith('sqlite:') ?? false;
}

function isQueryFile(answer: string): boolean {
  return /\.sql$/i.test(answer) && !/\s:day/.test(answer);
}
