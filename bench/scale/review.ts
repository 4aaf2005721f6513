import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Run } from '../../src/review/run.js';
import { type MeasuredCommand, startMeasured } from './command.js';
import { processorSecondsOf } from './processor-time.js';
import { day, type Folder, type Stage } from './stage.js';

/** One day reviewed by real processes, and the resources used. */
export interface Reviewed {
  readonly run: Run;
  readonly bookings: number;
  readonly wallSeconds: number;
  readonly collectSeconds: number;
  readonly deliverSeconds: number;
  readonly calls: number;
  readonly pushedBack: number;
  /** Processor seconds by kind of process. */
  readonly cpu: Readonly<Record<'run' | 'work' | 'redis' | 'postgres', number>>;
  readonly peakMb: Readonly<Record<'run' | 'work', number>>;
  readonly ledgerBytes: number;
  /** WAL bytes of the database; absent for SQLite. */
  readonly walBytes: number;
  /** Peak of all processes together. */
  readonly connections: number;
  readonly redisClients: number;
  readonly redisMb: number;
}

export async function review(
  stage: Stage,
  folder: Folder,
  { workers }: { readonly workers: number },
): Promise<Reviewed> {
  const crew = await startWorkers(folder, workers);
  const watch = await watchServers(stage, folder);
  const before = await readServers(stage, folder);
  const spent = await startMeasured(['run', '--day', day], folder.path).ended;
  const after = await readServers(stage, folder);
  const most = await watch.end();
  for (const worker of crew) worker.stop();
  const spentByWorkers = await Promise.all(crew.map(({ ended }) => ended));
  const ledger = folder.openLedger();
  const run = await ledger.latestRun(day);
  await ledger.close();
  if (run?.state !== 'succeeded') throw new Error(`expected a run that succeeded, got: ${run?.state}`);
  const { collectedAt = 0, finishedAt = 0, startedAt } = run;
  return {
    run,
    bookings: run.counts.accepted,
    wallSeconds: spent.wallSeconds,
    collectSeconds: (collectedAt - startedAt) / 1000,
    deliverSeconds: (finishedAt - collectedAt) / 1000,
    calls: stage.service.calls,
    pushedBack: stage.service.pushedBack,
    cpu: {
      run: spent.cpuSeconds,
      work: spentByWorkers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      redis: after.redis - before.redis,
      postgres: after.postgres - before.postgres,
    },
    peakMb: { run: spent.peakMb, work: Math.max(0, ...spentByWorkers.map(({ peakMb }) => peakMb)) },
    ledgerBytes: await folder.ledgerBytes(),
    walBytes: after.wal - before.wal,
    ...most,
  };
}

export async function startWorkers(folder: Folder, workers: number): Promise<MeasuredCommand[]> {
  const crew = Array.from({ length: workers }, () => startMeasured(['work'], folder.path));
  await Promise.all(crew.map((worker) => worker.wrote('working')));
  return crew;
}

export interface ServerAccount {
  readonly redis: number;
  readonly postgres: number;
  readonly wal: number;
}

/** Processor seconds and WAL bytes so far. */
export async function readServers(stage: Stage, { engine, ledgerPlace }: Folder): Promise<ServerAccount> {
  if (engine === 'one machine') return { redis: 0, postgres: 0, wal: 0 };
  const [row] = await stage.postgres.query(ledgerPlace, `SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  const redisPid = await stage.redis.ask(async (client) =>
    Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1]),
  );
  return {
    redis: processorSecondsOf(redisPid),
    postgres: processorSecondsOf(stage.postgresPid),
    wal: Number(row?.bytes),
  };
}

type Most = Pick<Reviewed, 'connections' | 'redisClients' | 'redisMb'>;
const watchEveryMs = 200;

/** Polls the servers and keeps the highest values. */
async function watchServers(
  stage: Stage,
  { engine, ledgerPlace }: Folder,
): Promise<{ end(): Promise<Most> }> {
  let most: Most = { connections: 0, redisClients: 0, redisMb: 0 };
  if (engine === 'one machine') return { end: async () => most };
  const client = new Redis(stage.redis.url);
  let isOver = false;
  const look = async () => {
    const [row] = await stage.postgres.query(
      ledgerPlace,
      `SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'hotel-review'`,
    );
    const info = await client.info();
    const number = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1]);
    most = {
      connections: Math.max(most.connections, Number(row?.count)),
      redisClients: Math.max(most.redisClients, number('connected_clients') - 1),
      redisMb: Math.max(most.redisMb, number('used_memory') / 1e6),
    };
  };
  const watching = (async () => {
    while (!isOver) {
      await look();
      await pause(watchEveryMs);
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      client.disconnect();
      return most;
    },
  };
}
