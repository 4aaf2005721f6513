import * as z from 'zod';
import { completePostgresUrl, explainUnprotected } from '../../base/connection-security.js';
import {
  confidentiality,
  expected,
  group,
  numberUpTo,
  objectionTo,
  text,
} from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';
import { readSqlAddress, sqlAddressForms } from './address.js';
import { parseDayQuery } from './query-text.js';

interface Checked {
  readonly url: string;
  readonly query: string;
}

/** Address and query are judged together once each is valid by itself. */
const hasNoIssue = ({ issues }: { readonly issues: readonly unknown[] }) => issues.length === 0;

/** Bookings in a database. */
const settings = group(
  {
    kind: z.literal('sql', expected('sql')).describe('The bookings are rows of a database.'),
    url: z
      .string(expected(sqlAddressForms))
      .refine((address) => objectionTo(() => readSqlAddress(address)) === undefined, {
        error: ({ input }) => objectionTo(() => readSqlAddress(String(input))),
      })
      .describe(
        'The database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `mysql://…` or `mariadb://…`. On another machine, TLS with a verified certificate is required: `?sslmode=verify-full`, for PostgreSQL with `&sslrootcert=FILE` for an authority of your own. `?sslmode=disable` permits a connection without TLS.',
      )
      // A wrong address is not shown: the mistake may be where its password is.
      .register(confidentiality, { level: 'private' }),
    query: text('a query').describe(
      'The query, one SELECT. `:day` in it is the day as YYYY-MM-DD; `:dayStart` and `:dayEnd` are the first instants of the day and of the next day. ' +
        `\`\${file:bookings.sql}\` takes it from that file.`,
    ),
    ...recordSettings,
    timeoutSeconds: numberUpTo(86_400)
      .default(600)
      .describe('How long the query may take, from its start to its last row.'),
  },
  'a group with kind, url and query',
)
  .refine((source) => explainUnprotected(source.url) === undefined, {
    path: ['url'],
    error: ({ input }) => explainUnprotected((input as Checked).url),
    when: hasNoIssue,
  })
  .refine((source) => explainQuery(source) === undefined, {
    path: ['query'],
    error: ({ input }) => explainQuery(input as Checked),
    when: hasNoIssue,
  });

export type SqlSettings = z.output<typeof settings>;

const kind: SourceKind<SqlSettings> = {
  name: 'sql',
  placeUnit: 'row',
  resolve: (source, folder) => ({ ...source, url: completePostgresUrl(source.url, folder) }),
  async open(source, { peerClock }) {
    const { createSqlSource } = await import('./sql-source.js');
    return createSqlSource({ ...source, peerClock });
  },
  findDatabase: ({ url }) => ({ setting: 'source.url', url }),
  openSample: async (settings) => (await import('./sql-source.js')).sampleQuery(settings),
};

export const sql = { ...kind, settings };

/** What is wrong with a query, by the rules of the database in the address; undefined if nothing is. */
function explainQuery({ url, query }: Checked): string | undefined {
  return objectionTo(() => parseDayQuery(query, readSqlAddress(url).kind));
}
