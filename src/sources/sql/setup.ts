import { unknownDatabase, unknownQuery } from '../../base/setting-placeholders.js';
import {
  type Questions,
  type Sample,
  type SettingWriter,
  type SourceSetup,
  sampleRecords,
  sourceVariables,
} from '../common/setup.js';
import { createDayRows } from './day-rows.js';
import { queryRule, type SqlOptions, urlRule } from './flags.js';
import type { SqlSettings } from './kind.js';
import { chunkBytes, measureRow, readTyped, type SqlRow, type SqlType } from './rows.js';

export interface SqlAnswers {
  readonly kind: 'sql';
  readonly query: QueryAnswer | undefined;
}

type QueryAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

const addressForms = {
  postgres: 'postgres://USER:PASSWORD@HOST:5432/DATABASE',
  mysql: 'mysql://USER:PASSWORD@HOST:3306/DATABASE',
} as const;

export const sqlSetup: SourceSetup<SqlAnswers, SqlSettings, SqlOptions> = {
  label: 'In a database: PostgreSQL, MySQL or MariaDB',
  isImpliedBy: ({ url, query, queryFile }) =>
    url === undefined ? query !== undefined || queryFile !== undefined : !/^https?:/i.test(url),
  checkOptions({ url, query, queryFile }, { known }) {
    if (query !== undefined && queryFile !== undefined)
      return '--query and --query-file exclude each other: give only one of them';
    return url !== undefined && known('sourceUrl') !== undefined
      ? '--url: HOTEL_REVIEW_SOURCE_URL is set in the environment or in .env and would take precedence; drop one of them'
      : undefined;
  },
  async ask(options, questions) {
    const { address, rules } = await askAddress(options, questions);
    const query = await askQuery(options, questions, address ?? rules);
    return { kind: 'sql', query };
  },
  listSecrets: () => ['sourceUrl'],
  /** The address holds a password, so it goes into `.env`. */
  render: ({ query }, write, { records }) => [
    ...write.reference(['source', 'url'], sourceVariables.sourceUrl),
    ...renderQuery(query, write),
    ...records,
  ],
  /** Samples the query's columns and first rows. */
  sample(settings) {
    const { read } = createDayRows(settings);
    return async (day, signal) => {
      const records: Sample['records'][number][] = [];
      let names: readonly string[] = [];
      let held = 0;
      for await (const { columns, types, rows } of read(day, { signal, atMost: sampleRecords })) {
        names = columns;
        for (const row of rows) {
          records.push(toRecord(columns, types, row));
          held += measureRow(row);
        }
        // A row can be as wide as a document.
        if (held > chunkBytes) break;
      }
      return { columns: names, records, delimiter: undefined };
    };
  },
  findObjection: ({ columns }, { iso }) => (columns.length > 0 ? undefined : `it holds no booking of ${iso}`),
};

interface DatabaseAddress {
  readonly address: string | undefined;
  /** An address by whose rules a query is read while the real one is unknown. */
  readonly rules: string;
}

async function askAddress({ url }: SqlOptions, questions: Questions): Promise<DatabaseAddress> {
  const given = questions.takeOption(url);
  if (given !== undefined) {
    questions.keep('sourceUrl', given);
    return { address: given, rules: given };
  }
  const known = questions.known('sourceUrl');
  if (known !== undefined) return { address: known, rules: known };
  const kind = await questions.choose('database', undefined, {
    message: 'Which database?',
    choices: [
      { value: 'postgres', label: 'PostgreSQL' },
      { value: 'mysql', label: 'MySQL or MariaDB' },
    ],
    fallback: 'postgres',
  });
  const address = await questions.secret({
    secret: 'sourceUrl',
    rule: urlRule,
    message: `Its address, ${addressForms[kind]} (hidden; empty: later)`,
  });
  return { address, rules: kind === 'mysql' ? 'mysql://localhost/bookings' : unknownDatabase };
}

async function askQuery(
  { query, queryFile }: SqlOptions,
  questions: Questions,
  database: string,
): Promise<QueryAnswer | undefined> {
  const answer = await questions.text({
    rule: {
      name: 'query',
      check: (typed, check) => (isQueryFile(typed) ? undefined : check(queryRule(database), typed)),
    },
    given: query ?? queryFile,
    message: 'The query on one line, with :day or :dayStart and :dayEnd, or its .sql file (empty: later)',
    isPath: true,
  });
  if (answer === undefined) return undefined;
  return answer === queryFile || (answer !== query && isQueryFile(answer))
    ? { kind: 'file', path: answer }
    : { kind: 'text', text: answer };
}

function isQueryFile(answer: string): boolean {
  return /\.sql$/i.test(answer) && !/\s:day/.test(answer);
}

function renderQuery(query: QueryAnswer | undefined, write: SettingWriter): string[] {
  switch (query?.kind) {
    case undefined:
      return write.answer(['source', 'query'], undefined, { text: unknownQuery, what: 'your own query' });
    case 'text':
      return write.text(['source', 'query'], query.text.trim());
    case 'file':
      return write.reference(['source', 'query'], `file:${query.path}`);
  }
}

function toRecord(
  columns: readonly string[],
  types: readonly SqlType[],
  row: SqlRow,
): ReadonlyMap<string, string> {
  return new Map(
    columns.flatMap((name, at): [string, string][] => {
      const cell = row[at];
      // Digits stay as the database writes them: 1.50.
      const isText = types[at] === 'other' || (types[at] === 'number' && typeof cell === 'string');
      const value = isText ? cell : readTyped(cell, types[at]);
      return ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [];
    }),
  );
}
