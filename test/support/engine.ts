import { Redis } from 'ioredis';
import pg from 'pg';
import { inject } from 'vitest';
import type { Settings } from './day-folder.js';
import { type LedgerTables, openPostgresTables, openSqliteTables } from './ledger-watch.js';
import { readEverything } from './redis.js';

export type EngineName = 'embedded' | 'distributed';

/** What reviews a day, and how that shows from outside: the same tests run on each engine. */
export interface Engine {
  readonly name: EngineName;
  /** `work` processes beside each `run`. */
  readonly workers: number;
  /** Prepended to the arguments of a command whose steps must be distinguishable from those of other processes. */
  readonly tracing: readonly string[];
  /** Opens the engine's resources for one test folder. */
  openPlace(folder: { readonly ledgerFile: string }): Promise<EnginePlace>;
}

export interface EnginePlace {
  /** Merged over the defaults. */
  readonly settings: Settings;
  openTables(): LedgerTables;
  /** Everything in the queue outside of processes, as text. */
  readQueue(): Promise<string>;
  /** What the ledger holds outside of its files, as text, without the tables of bookings and of the service's answers. */
  readTables(): Promise<string>;
  /** Called when no command is running there any more. */
  close(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    engine: EngineName;
    /** One takes over what a `run` leaves, and the other way round; by night, two also race for it. */
    workersBesideRun: number;
  }
}

/** One process with an in-process queue and SQLite. */
export const embeddedEngine: Engine = {
  name: 'embedded',
  workers: 0,
  tracing: [],
  openPlace: async ({ ledgerFile }) => ({
    settings: {},
    openTables: () => openSqliteTables(ledgerFile),
    readQueue: async () => '',
    readTables: async () => '',
    close: async () => {},
  }),
};

/** What all folders share: one server of each kind. */
export interface SharedServers {
  /** Without a database number. */
  readonly redisUrl: string;
  /** URL of the database from which others are created and dropped. */
  readonly postgresUrl: string;
  /** Name of a template: a ledger with nothing in it. */
  readonly templateDatabase: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Or what is missing to start them. */
    servers: SharedServers | { readonly needs: string };
  }
}

/** Recovery must be quick, but slower than any pause on a busy machine. */
const workers = { leaseSeconds: 4 };

/** BullMQ on Redis, and PostgreSQL: each folder has its own database on either server. */
export const distributedEngine: Engine = {
  name: 'distributed',
  workers: inject('workersBesideRun'),
  tracing: ['--log-level', 'trace'],
  async openPlace() {
    const { redisUrl, postgresUrl, templateDatabase } = sharedServers();
    const number = await askRedis(redisUrl, (client) => client.incr('folders'));
    const database = `folder_${number}`;
    await askPostgres(postgresUrl, `CREATE DATABASE ${database} TEMPLATE ${templateDatabase}`);
    const ledger = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href;
    const queue = `${redisUrl}/${number}`;
    return {
      settings: { ledger, queue, workers },
      openTables: () => openPostgresTables(ledger),
      readQueue: () => askRedis(queue, readEverything),
      readTables: () => readTables(ledger),
      async close() {
        await askRedis(queue, (client) => client.flushdb());
        await askPostgres(postgresUrl, `DROP DATABASE ${database} WITH (FORCE)`);
      },
    };
  },
};

function sharedServers(): SharedServers {
  const servers = inject('servers');
  if ('needs' in servers) throw new Error(servers.needs);
  return servers;
}

async function askRedis<Answer>(url: string, question: (client: Redis) => Promise<Answer>): Promise<Answer> {
  const client = new Redis(url);
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}

/** Tables that may name guests. */
const tablesOfGuests = ['batches', 'rejects', 'attempts', 'suspects'];

async function readTables(url: string): Promise<string> {
  const listed = await askPostgres(
    url,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'hotel_review'",
  );
  const names = listed.map(({ name }) => String(name)).filter((name) => !tablesOfGuests.includes(name));
  const all = names.map((name) => `SELECT '${name}' AS name, t::text AS row FROM hotel_review.${name} t`);
  return JSON.stringify(all.length > 0 ? await askPostgres(url, all.join(' UNION ALL ')) : []);
}

async function askPostgres(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

export const engine: Engine = choose(inject('engine'));

function choose(name: EngineName): Engine {
  switch (name) {
    case 'embedded':
      return embeddedEngine;
    case 'distributed':
      return distributedEngine;
  }
}
