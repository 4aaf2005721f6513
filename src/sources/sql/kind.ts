import { resolve } from 'node:path';
import * as z from 'zod';
import { type ConfiguredAddress, explainUnprotected } from '../../settings/connection-security.js';
import { confidentiality, expected, group, isGroup, numberUpTo, oneOf, text } from '../../settings/values.js';
import type { SourceKind } from '../common/kind.js';
import { recordSettings } from '../common/record-settings.js';
import { listFilterColumns } from '../common/row-filter.js';
import { readSqlAddress, sqlAddressForms } from './address.js';
import { sqlFlags } from './flags.js';
import { parseDayQuery } from './query-text.js';

const dayInSeconds = 86_400;

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
        'The database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `mysql://…` or `mariadb://…`. On another machine, TLS with a verified certificate is required: `?sslmode=verify-full`, or `source.ca`.',
      )
      // A wrong address is not shown: the mistake may be where its password is.
      .register(confidentiality, { level: 'private' }),
    query: text('a query')
      .exactOptional()
      .describe(
        'The query, one SELECT. `:day` in it is the day as YYYY-MM-DD; `:dayStart` and `:dayEnd` are the first instants of the day and of the next day.',
      ),
    queryFile: text('a path').exactOptional().describe('The file that holds the query, instead of `query`.'),
    ...recordSettings,
    timeoutSeconds: numberUpTo(dayInSeconds)
      .default(600)
      .describe('How long the query may take, from its start to its last row.'),
    plaintext: oneOf('allowed')
      .exactOptional()
      .describe('Allows a connection to another machine without TLS, or with an unverified certificate.'),
    ca: text('a path')
      .exactOptional()
      .describe(
        "A PEM file with the certificate of the authority that signed the database server's certificate. With it TLS is required.",
      ),
  },
  'a group with kind, url and a query or a queryFile',
)
  .refine(({ query, queryFile }) => (query === undefined) !== (queryFile === undefined), {
    error: 'must hold a query or a queryFile, and not both',
    when: ({ value }) => isGroup(value),
  })
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
  flags: sqlFlags,
  resolve(source, folder) {
    const { queryFile, ca } = source;
    return {
      ...source,
      ...(queryFile !== undefined && { queryFile: resolve(folder, queryFile) }),
      ...(ca !== undefined && { ca: resolve(folder, ca) }),
    };
  },
  async open({ where, keep, plaintext: _, ...source }) {
    const { createSqlSource } = await import('./sql-source.js');
    return createSqlSource({
      ...source,
      extraColumns: listFilterColumns(where),
      keptColumns: Object.values(keep),
    });
  },
  findDatabase: ({ url, ca }) => ({ setting: 'source.url', url, ca }),
  loadSetup: async () => (await import('./setup.js')).sqlSetup,
};

export const sql = { ...kind, settings };

/** What is wrong with an address, without repeating it; undefined if nothing is. */
function explainAddress(address: string): string | undefined {
  return explain(() => readSqlAddress(address));
}

/** Why the connection to the database is not safe enough; undefined if it is, or if the address is wrong anyway. */
function explainSecurity(source: unknown): string | undefined {
  const { url, plaintext, ca } = isGroup(source) ? source : {};
  if (typeof url !== 'string' || explainAddress(url) !== undefined) return undefined;
  const given: ConfiguredAddress = {
    url,
    plaintext: plaintext === 'allowed' ? plaintext : undefined,
    ca: typeof ca === 'string' ? ca : undefined,
  };
  return explainUnprotected(given, 'plaintext: allowed beside source.url');
}

/** What is wrong with a query, by the rules of the database in the address; undefined if nothing is. */
function explainQuery(source: unknown): string | undefined {
  const { url, query } = isGroup(source) ? source : {};
  if (typeof url !== 'string' || typeof query !== 'string' || query === '') return undefined;
  if (explainAddress(url) !== undefined) return undefined;
  return explain(() => parseDayQuery(query, readSqlAddress(url).kind));
}

function explain(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
