import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import type { Ledger } from '../../src/review/ledger.js';
import { readReference } from '../../src/review/stored/stored-line.js';
import { type Postgres, postgresNeeds, startPostgres } from '../../test/support/postgres.js';
import { type RunningRedis, redisNeeds, startRedis } from '../../test/support/redis.js';
import { type Service, startService } from './service.js';

/** The business day of every folder. */
export const day = '2026-11-20';

export type Engine = 'one machine' | 'many machines';

/** What all experiments share: the servers and the service. */
export interface Stage {
  readonly service: Service;
  readonly redis: RunningRedis;
  readonly postgres: Postgres;
  readonly postgresPid: number;
  /** Creates a folder with a configuration, a day and an empty ledger. */
  openFolder(setting: FolderSetting): Promise<Folder>;
  close(): Promise<void>;
}

export interface FolderSetting {
  readonly engine: Engine;
  readonly bookings: number;
  /** Sections that override the stage's configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface Folder {
  readonly path: string;
  readonly engine: Engine;
  /** The database's URL, or the SQLite file. */
  readonly ledgerPlace: string;
  openLedger(): Ledger;
  /** Including its WAL. */
  ledgerBytes(): Promise<number>;
  remove(): Promise<void>;
}

export function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'the simulation reads processor time from /proc: it needs Linux';
  const needs = [redisNeeds, postgresNeeds].filter((need) => need !== undefined);
  return needs.length > 0 ? `the simulation ${needs.join('; ')}` : undefined;
}

export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-scale-'));
  const service = await startService();
  const redis = await startRedis();
  // Default settings except the address: it waits for the disk, and allows a hundred connections.
  const postgres = await startPostgres({ fsync: true, connections: 100 });
  const [pidLine] = readFileSync(join(postgres.folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const maker = new URL('../make-bookings.ts', import.meta.url).pathname;
  let folders = 0;

  /** Creates each size of day only once. */
  function makeDay(count: number): string {
    const path = join(folder, `bookings-${count}.csv`);
    if (!existsSync(path))
      execFileSync(process.execPath, [...process.execArgv, maker, path, day, `${count}`]);
    return path;
  }

  return {
    service,
    redis,
    postgres,
    postgresPid: Number(pidLine),
    async openFolder({ engine, bookings: count, settings = {} }) {
      folders += 1;
      const path = join(folder, `folder-${folders}`);
      await mkdir(path);
      const file = join(path, 'ledger.db');
      const url = engine === 'many machines' ? await postgres.createDatabase() : undefined;
      await redis.flushAll();
      const base = {
        service: { baseUrl: service.baseUrl, apiKey: 'scale', accountId: 'scale' },
        source: { kind: 'csv', path: makeDay(count) },
        ledger: url ?? `sqlite:${file}`,
        ...(url !== undefined && { queue: redis.url }),
      };
      await writeFile(join(path, 'hotel-review.yaml'), JSON.stringify({ ...base, ...settings }));
      const options = {
        carriesReference: (line: string, form: 'body' | 'file', reference: string) =>
          readReference(line, form) === reference,
        clock: Date.now,
      };
      return {
        path,
        engine,
        ledgerPlace: url ?? file,
        openLedger: () =>
          url === undefined
            ? createSqliteLedger({ path: file, ...options })
            : createPostgresLedger({ url, connections: 40, ...options }),
        ledgerBytes: () => (url === undefined ? sizeOfFiles(file) : sizeOfSchema(postgres, url)),
        async remove() {
          await rm(path, { recursive: true });
          if (url !== undefined) await postgres.giveBack(url);
        },
      };
    },
    async close() {
      service.close();
      await Promise.all([redis.close(), postgres.remove()]);
      await rm(folder, { recursive: true });
    },
  };
}

async function sizeOfFiles(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOfSchema(postgres: Postgres, url: string): Promise<number> {
  const [row] = await postgres.query(
    url,
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
     WHERE relnamespace = 'hotel_review'::regnamespace AND relkind = 'r'`,
  );
  return Number(row?.bytes);
}
