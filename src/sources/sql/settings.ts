import * as z from 'zod';
import { confidentiality, expected, group, isGroup, numberUpTo, text } from '../../settings/values.js';
import { recordSettings } from '../common/record-settings.js';
import { readSqlAddress, sqlAddressForms } from './address.js';
import { parseDayQuery } from './query-text.js';

const dayInSeconds = 86_400;

/** Bookings in a database. */
export const sql = group(
  {
    kind: z.literal('sql', expected('sql')).describe('The bookings are rows of a database.'),
    url: z
      .string(expected(sqlAddressForms))
      .refine((address) => explainAddress(address) === undefined, {
        error: ({ input }) => explainAddress(String(input)),
      })
      .describe(
        'The database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `mysql://…`, `mariadb://…` or `sqlite:PATH`.',
      )
      // An address that is wrong is not shown: what is wrong with it may be where its password stands.
      .register(confidentiality, { level: 'private' }),
    query: text('a query')
      .exactOptional()
      .describe(
        'The query, one SELECT; `:day` in it is the day as YYYY-MM-DD, `:dayStart` and `:dayEnd` are its first instant and that of the day after.',
      ),
    queryFile: text('a path').exactOptional().describe('The file that holds the query, in place of `query`.'),
    ...recordSettings,
    timeoutSeconds: numberUpTo(dayInSeconds)
      .default(600)
      .describe('How long the query may take, from its start to its last row.'),
    ca: text('a path')
      .exactOptional()
      .describe(
        "The file, in PEM, of the certificate of the authority that vouches for the database's server; with it TLS is demanded.",
      ),
  },
  'a group with kind, url and a query or a queryFile',
)
  .refine(({ query, queryFile }) => (query === undefined) !== (queryFile === undefined), {
    error: 'must hold a query or a queryFile, and not both',
    when: ({ value }) => isGroup(value),
  })
  .refine((settings) => explainQuery(settings) === undefined, {
    path: ['query'],
    error: ({ input }) => explainQuery(input),
    when: ({ value }) => isGroup(value),
  });

/** What is wrong with an address, in words that don't repeat it; undefined where nothing is. */
function explainAddress(address: string): string | undefined {
  try {
    readSqlAddress(address);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** What is wrong with a query that its database's address can be read for; undefined where nothing is. */
function explainQuery(settings: unknown): string | undefined {
  const { url, query } = isGroup(settings) ? settings : {};
  if (typeof url !== 'string' || typeof query !== 'string' || query === '') return undefined;
  if (explainAddress(url) !== undefined) return undefined;
  try {
    parseDayQuery(query, readSqlAddress(url).kind);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
