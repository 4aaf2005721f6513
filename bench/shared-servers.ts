import { type Postgres, postgresNeeds, startPostgres } from '../test/support/postgres.js';
import { type RunningRedis, redisNeeds, startRedis } from '../test/support/redis.js';

/** What many processes share, set up as docker-compose.yml has it: whatever is acknowledged is on disk. */
export interface SharedServers {
  readonly redis: RunningRedis;
  readonly postgres: Postgres;
  /** Both as new. Answers the settings that lead to them. */
  empty(): Promise<{ readonly ledger: string; readonly queue: string }>;
  close(): Promise<void>;
}

export function findServersObstacle(): string | undefined {
  return redisNeeds ?? postgresNeeds;
}

export async function startSharedServers(): Promise<SharedServers> {
  const redis = await startRedis({ args: ['--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'] });
  const postgres = await startPostgres({ fsync: true });
  let used: string | undefined;
  return {
    redis,
    postgres,
    async empty() {
      await redis.flushAll();
      if (used !== undefined) await postgres.giveBack(used);
      used = await postgres.createDatabase();
      return { ledger: used, queue: redis.url };
    },
    async close() {
      await Promise.all([redis.close(), postgres.remove()]);
    },
  };
}
