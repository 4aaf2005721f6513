import * as z from 'zod';
import { completePostgresUrl, explainUnprotected } from '../../base/connection-security.js';
import {
  confidentiality,
  expected,
  group,
  isGroup,
  numberUpTo,
  objectionTo,
  text,
} from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';
import { readSqlAddress, sqlAddressForms } from './address.js';
import { parseDayQuery } from './query-text.js';

/** Bookings in a database. */
const settings = group(
  {
    kind: z.literal('sql', expected('sql')).describe('The bookings are rows of a database.'),
    url: z
      .string(expected(sqlAddressForms))
      .refine((address) => explainAddress(address) === undefined, {
        error: ({ input }) => explainAddress(String(input)),
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
  .refine((source) => explainSecurity(source) === undefined, {
    path: ['url'],
    error: ({ input }) => explainSecurity(input),
    when: ({ value }) => isGroup(value),
  })
  .refine((source) => explainQuery(source) === undefined, {
    path: ['query'],
    error: ({ input }) => explainQuery(input),
    when: ({ value }) => isGroup(value),
  });

export type SqlSettings = z.output<typeof settings>;

const kind: SourceKind<SqlSettings> = {
  name: 'sql',
  placeUnit: 'row',
  resolve: (source, folder) => ({ ...source, url: completePostgresUrl(source.url, folder) }),
  async open(source, { peerClock }) {
    const { createSqlSource } = await import('./sql-source.js');
    return createSqlSource({
      ...source,
      peerClock,
    });
  },
  findDatabase: ({ url }) => ({ setting: 'source.url', url }),
  openSample: async (settings) => (await import('./sample.js')).sampleQuery(settings),
};

export const sql = { ...kind, settings };

/** What is wrong with an address, without repeating it; undefined if nothing is. */
function explainAddress(address: string): string | undefined {
  return objectionTo(() => readSqlAddress(address));
}

/** Why the connection to the database is not safe enough; undefined if it is, or if the address is wrong anyway. */
function explainSecurity(source: unknown): string | undefined {
  const { url } = isGroup(source) ? source : {};
  return typeof url !== 'string' || explainAddress(url) !== undefined ? undefined : explainUnprotected(url);
}

/** What is wrong with a query, by the rules of the database in the address; undefined if nothing is. */
function explainQuery(source: unknown): string | undefined {
  const { url, query } = isGroup(source) ? source : {};
  if (typeof url !== 'string' || typeof query !== 'string' || query === '') return undefined;
  if (explainAddress(url) !== undefined) return undefined;
  return objectionTo(() => parseDayQuery(query, readSqlAddress(url).kind));
}
