import type { TestProject } from 'vitest/node';
import { createPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import { type Postgres, postgresNeeds, startPostgres } from './postgres.js';
import { redisNeeds, startRedis } from './redis.js';

const redisDatabases = 8_192;
/** Enough for three processes and for observers, in every folder in use at the same time. */
const connections = 400;

/** One Redis and one PostgreSQL for all tests of the project, if they can be started here. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const needs = [redisNeeds, postgresNeeds].filter((need) => need !== undefined);
  if (needs.length > 0) {
    project.provide('servers', { needs: needs.join('; ') });
    return async () => {};
  }
  const [redis, postgres] = await Promise.all([
    startRedis({ args: ['--databases', `${redisDatabases}`] }),
    startPostgres({ connections }),
  ]);
  const template = await makeTemplate(postgres);
  project.provide('servers', {
    redisUrl: redis.url,
    postgresUrl: Object.assign(new URL(template), { pathname: '/postgres' }).href,
    templateDatabase: new URL(template).pathname.slice(1),
  });
  return async () => {
    await Promise.all([redis.close(), postgres.remove()]);
  };
}

/** A database as the first command leaves it; copying it is faster than creating its tables. */
async function makeTemplate(postgres: Postgres): Promise<string> {
  const url = await postgres.createDatabase();
  const ledger = createPostgresLedger({ url, clock: Date.now });
  await ledger.runs.listActive();
  await ledger.close();
  return url;
}
