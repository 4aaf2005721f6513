import { type Postgres, postgresNeeds, startPostgres } from '../test/support/postgres.js';
import { type RunningRedis, redisNeeds, startRedis } from '../test/support/redis.js';

/** The servers that many processes share, configured as in docker-compose.yml: acknowledged writes are on disk. */
export interface SharedServers {
  readonly redis: RunningRedis;
  readonly postgres: Postgres;
  /** Empties both. Returns the settings that point to them. */
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
