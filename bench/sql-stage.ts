import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mariadbTable, postgresTable, tableSource } from '../test/support/bookings-table.js';
import { mariadbNeeds, startMariadb } from '../test/support/mariadb.js';
import { postgresNeeds, startPostgres } from '../test/support/postgres.js';
import { makeTemporaryFolder } from './harness/environment.js';
import { type JsonService, startJsonService } from './stand-ins/start-json-service.js';

/** A day in a database, the service for delivery by body, and commands for `hotel-review` and the export. */
export interface SqlStage {
  readonly folder: string;
  readonly service: JsonService;
  /** Removes the ledger. The source is the database, or the exported file. */
  configure(kind: 'sql' | 'csv'): Promise<void>;
  readonly runCommand: readonly string[];
  readonly exportCommand: readonly string[];
  readonly exportEnvironment: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

interface SqlServer {
  readonly title: string;
  readonly needs: string | undefined;
  readonly client: {
    readonly program: string;
    readonly debianPackage: string;
    readonly delimiter: string;
    readonly note: string;
    /** Writes the query's rows to that file, after a header. */
    exportCommand(url: string, query: string, file: string): readonly string[];
  };
  /** Starts a separate server with a day of that many bookings. */
  start(count: number): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const day = '2026-11-20';
const built = fileURLToPath(new URL('../dist/jobs/hotel-review.js', import.meta.url));

export const sqlServers = {
  postgres: {
    title: 'PostgreSQL',
    needs: postgresNeeds,
    client: {
      program: 'psql',
      debianPackage: 'postgresql-client',
      delimiter: ',',
      note: 'Exported with `\\copy … csv header`.',
      exportCommand: (url, query, file) => ['psql', url, '-c', `\\copy (${query}) to '${file}' csv header`],
    },
    async start(count) {
      const server = await startPostgres();
      const url = await server.createDatabase();
      await server.query(url, postgresTable(count));
      return { url: server.overTcp(url), close: () => server.remove() };
    },
  },
  mariadb: {
    title: 'MariaDB',
    needs: mariadbNeeds,
    client: {
      program: 'mariadb',
      debianPackage: 'mariadb-client',
      delimiter: '\t',
      note: 'Exported with `--batch --quick`, separated by tabs.',
      exportCommand(url, query, file) {
        const { username, hostname, port, pathname } = new URL(url);
        const login = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, pathname.slice(1)];
        const program = ['mariadb', '--no-defaults', '--batch', '--quick', ...login, `--execute=${query}`];
        return ['sh', '-c', 'file=$1; shift; exec "$@" >"$file"', 'sh', file, ...program];
      },
    },
    async start(count) {
      const server = await startMariadb();
      const url = await server.createDatabase();
      await server.query(url, mariadbTable(count));
      return { url, close: () => server.remove() };
    },
  },
} satisfies Readonly<Record<string, SqlServer>>;

export async function prepareSqlStage(kind: keyof typeof sqlServers, count: number): Promise<SqlStage> {
  const { start, client } = sqlServers[kind];
  const { path: folder, remove } = makeTemporaryFolder();
  const [database, service] = await Promise.all([start(count), startJsonService()]);
  const [configuration, exported] = [join(folder, 'hotel-review.yaml'), join(folder, 'bookings.csv')];
  const { columns, query, ...source } = tableSource(database);
  const sources = {
    sql: { ...source, columns, query },
    csv: { kind: 'csv', path: exported, columns, delimiter: client.delimiter },
  };
  return {
    folder,
    service,
    async configure(kind) {
      const api = { baseUrl: service.baseUrl, apiKey: 'bench', accountId: 'bench' };
      await rm(join(folder, 'data'), { recursive: true, force: true });
      await writeFile(
        configuration,
        JSON.stringify({ service: api, source: sources[kind], timezone: 'Europe/Madrid' }),
      );
    },
    runCommand: [process.execPath, built, 'run', '--day', day, '--config', configuration],
    exportCommand: client.exportCommand(database.url, askForDay(String(query)), exported),
    exportEnvironment: {
      ...process.env,
      PGTZ: 'UTC',
      MYSQL_PWD: decodeURIComponent(new URL(database.url).password),
    },
    async close() {
      await Promise.all([service.close(), database.close()]);
      remove();
    },
  };
}

/** As a person exporting a day would write it: on one line, with the first and last instant of the day. */
function askForDay(query: string): string {
  return query
    .replace(/\s+/g, ' ')
    .replace(':dayStart', "'2026-11-19 23:00:00'")
    .replace(':dayEnd', "'2026-11-20 23:00:00'");
}
