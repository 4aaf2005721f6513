import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, inject, vi } from 'vitest';
import { day } from './business-day.js';
import type { Engine } from './engine.js';
import { openPostgresTables } from './postgres-tables.js';
import { readEverything } from './redis.js';

/** What all folders share: one server of each kind. */
export interface SharedServers {
  /** Without the number of a database. */
  readonly redisUrl: string;
  /** Of the database from which others are made and dropped. */
  readonly postgresUrl: string;
  /** Its name: a ledger with nothing in it. */
  readonly templateDatabase: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Or what is missing to start them. */
    servers: SharedServers | { readonly needs: string };
  }
}

const workersBesideRun = 2;
/** Recoveries are to be quick, but longer than a busy machine keeps anybody waiting. */
const workers = { leaseSeconds: 3, reconcileSeconds: 0.5 };

/** BullMQ on Redis, and PostgreSQL: each folder has a database of either server for itself. */
export const distributedEngine: Engine = {
  name: 'distributed',
  workers: workersBesideRun,
  performers: workersBesideRun + 1,
  wordsOfStop: '"graceMs"',
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
      async close() {
        await askRedis(queue, (client) => client.flushdb());
        await askPostgres(postgresUrl, `DROP DATABASE ${database} WITH (FORCE)`);
      },
    };
  },
  async expectSecondRun(folder) {
    const second = folder.start(['run', '--day', day, '--json', ...this.tracing]);
    await second.wrote('"isResumed":true');
    expect(second.hasEnded).toBe(false);
  },
  tokensOfTakeOver: 0,
  // It ends with the lease.
  endOwnership: async () => {},
  async expectFencedWhenWoken(frozen) {
    frozen.kill('SIGCONT');
    // A `run` ends with the day, which others have ended or will; a worker stays.
    const isFenced = () => frozen.hasEnded || frozen.stderr.includes('"superseded');
    await vi.waitUntil(isFenced, { timeout: 30_000, interval: 10 });
    if (frozen.hasEnded) expect((await frozen.ended).exitCode).toBe(0);
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

async function askPostgres(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
