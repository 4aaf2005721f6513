import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, inject, vi } from 'vitest';
import type { RunningCommand } from './command.js';
import type { DayFolder, Settings } from './day-folder.js';
import { expectError } from './expectations.js';
import { type LedgerTables, openPostgresTables, openSqliteTables } from './ledger-watch.js';
import { day } from './made-bookings.js';
import { readEverything } from './redis.js';

export type EngineName = 'embedded' | 'distributed';

/** What a day is reviewed on, and what that changes for those who look on: the same tests run over each. */
export interface Engine {
  readonly name: EngineName;
  /** Processes of `work` beside each `run`. */
  readonly workers: number;
  /** Processes that perform the steps of a day at the same time. */
  readonly performers: number;
  /** What a traced process writes when it was asked to stop and takes nothing more. */
  readonly wordsOfStop: string;
  /**
   * Starts another `run` of the tests' day, which others work on: it is refused, or it joins them. Nothing is sent for it.
   */
  expectSecondRun(folder: DayFolder): Promise<void>;
  /** By how much the token of a run rises when others go on with what a frozen process was delivering. */
  readonly tokensOfTakeOver: number;
  /** Done for the tests' day when its owner is frozen: it is still his, until a person or time ends that. */
  endOwnership(folder: DayFolder): Promise<void>;
  /** Wakes a process that others have gone on without: it writes nothing more of what it had in hand, and says so. */
  expectFencedWhenWoken(frozen: RunningCommand): Promise<void>;
  /** Laid before the arguments of a command whose steps are to be told apart from those of other processes. */
  readonly tracing: readonly string[];
  /** Opens what one folder of a test has for itself. */
  openPlace(folder: { readonly ledgerFile: string }): Promise<EnginePlace>;
}

export interface EnginePlace {
  /** Laid over the usual ones. */
  readonly settings: Settings;
  openTables(): LedgerTables;
  /** All that stands in the queue outside of processes, as a text. */
  readQueue(): Promise<string>;
  /** Called when no command works there any more. */
  close(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    engine: EngineName;
  }
}

const busy = { exitCode: 4, class: 'busy', message: /2026-11-20 is being run by another process/ };

/** One process with its queue in itself, and SQLite. */
export const embeddedEngine: Engine = {
  name: 'embedded',
  workers: 0,
  performers: 1,
  wordsOfStop: 'stopping',
  tracing: [],
  openPlace: async ({ ledgerFile }) => ({
    settings: {},
    openTables: () => openSqliteTables(ledgerFile),
    readQueue: async () => '',
    close: async () => {},
  }),
  async expectSecondRun(folder) {
    expectError(await folder.runDay(), busy);
    expect((await folder.run(['run', '--day', day])).exitCode).toBe(4);
  },
  tokensOfTakeOver: 1,
  async endOwnership(folder) {
    expectError(await folder.runDay(), busy);
    // What an operator does who knows that the owner will not come back.
    await rm(join(`${folder.ledgerFile}.locks`, `${day}.lock`));
  },
  async expectFencedWhenWoken(frozen) {
    frozen.kill('SIGCONT');
    const fenced = { exitCode: 4, class: 'busy', message: /was taken over by another process/ };
    expectError(await frozen.ended, fenced);
  },
};

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

export const engine: Engine = choose(inject('engine'));

function choose(name: EngineName): Engine {
  switch (name) {
    case 'embedded':
      return embeddedEngine;
    case 'distributed':
      return distributedEngine;
  }
}
