import { fileURLToPath } from 'node:url';
import type { RunningRedis } from '../../test/support/redis.js';
import { day, prepareBodyStage } from '../body-stage.js';
import type { Comparison, Measurement } from '../comparison.js';
import { findTimeObstacle, measureProcess } from '../harness/measured-process.js';
import { findServersObstacle, startSharedServers } from '../shared-servers.js';

const bookings = { full: 1_000_000, quick: 50_000 };
const peer = fileURLToPath(new URL('../peers/bookings-in-payload.ts', import.meta.url));

/** The Redis memory of a queued day, with references and with whole bookings in the queue. */
export const queueMemory: Comparison = {
  name: 'queue-memory',
  work: 'Redis memory of 1,000,000 queued bookings',
  against: 'BullMQ with 500 bookings per job payload',
  unit: 'MB',
  reach: { ratio: { atMost: 0.02 } },
  findObstacle: () => findTimeObstacle() ?? findServersObstacle(),
  async prepare(scale) {
    const [stage, servers] = await Promise.all([prepareBodyStage(bookings[scale]), startSharedServers()]);
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const fill = async (command: readonly string[]): Promise<Measurement> => {
      const before = await readUsedMb(servers.redis);
      const { cpuSeconds, peakMb } = await measureProcess(command, { cwd });
      return { value: (await readUsedMb(servers.redis)) - before, cpuSeconds, peakMb };
    };
    return {
      ours: {
        name: 'booked-hotel review',
        async run() {
          await stage.configure(await servers.empty());
          return fill(stage.command('run', '--day', day, '--detach'));
        },
      },
      other: {
        name: 'bookings in the payload',
        async run() {
          await servers.empty();
          return fill([process.execPath, '--import', 'tsx', peer, servers.redis.url, stage.csv]);
        },
      },
      notes: [
        'Growth of `used_memory`; ours by `run --detach`, ledger in PostgreSQL. One job per booking would take several times as much.',
      ],
      async close() {
        await servers.close();
        await stage.close();
      },
    };
  },
};

async function readUsedMb(redis: RunningRedis): Promise<number> {
  const memoryInfo = await redis.ask((client) => client.info('memory'));
  const used = /^used_memory:(\d+)/m.exec(memoryInfo)?.[1];
  if (used === undefined) throw new Error('expected used_memory from Redis, got none');
  return Number(used) / 1e6;
}
