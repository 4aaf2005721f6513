import { expect, it, onTestFinished } from 'vitest';
import { day } from '../support/day-folder.js';
import { redisNeeds, startRedis, startSentinel } from '../support/redis.js';
import { usePostgres } from '../support/use-servers.js';
import { prepareMachines } from './machines.js';

const postgres = usePostgres();

async function start(args: readonly string[] = []) {
  const redis = await startRedis({ args });
  onTestFinished(() => redis.close());
  return redis;
}

async function startWithUser(...rules: string[]): Promise<string> {
  const redis = await start();
  await redis.ask((client) => client.call('ACL', 'SETUSER', 'reviewer', 'on', '>s3cret', ...rules));
  return `redis://reviewer:s3cret@127.0.0.1:${redis.port}`;
}

/** Addresses of servers that will never take a step, however long one waits, and what doctor says of each. */
const servers: readonly (readonly [what: string, open: () => Promise<string>, says: string])[] = [
  [
    'a wrong password',
    async () => (await startWithUser('allkeys', 'allcommands')).replace('s3cret', 'wr0ng'),
    'Are user and password right?',
  ],
  ['a cluster', async () => (await start(['--cluster-enabled', 'yes'])).url, 'is part of a cluster'],
  [
    'the address of a sentinel',
    async () => {
      const sentinel = await startSentinel((await start()).port);
      onTestFinished(() => sentinel.close());
      return sentinel.url;
    },
    'the server is a sentinel',
  ],
  [
    'no right to write',
    () => startWithUser('allkeys', '+@all', '-@write'),
    'may not run scripts, or not write',
  ],
  ['no right to run scripts', () => startWithUser('allkeys', '+@all', '-@scripting'), 'may not run scripts'],
  ['no right to the keys', () => startWithUser('~others:*', '+@all'), 'may not run scripts, or not write'],
  ['no right to INFO', () => startWithUser('allkeys', '+@all', '-info'), 'NOPERM'],
];

it.skipIf(redisNeeds).each(servers)(
  'Redis with %s ends run, work and serve with 2 and what doctor says',
  async (_, open, says) => {
    const url = await open();
    const { folder, standIn } = await prepareMachines({ postgres: postgres(), redis: { url }, bookings: 10 });
    const doctor = await folder.run(['doctor', '--json']);
    expect(doctor.stdout).toContain(says);
    const asked = standIn.requests.length;
    for (const args of [['run', '--day', day], ['work'], ['serve', '--port', '0']]) {
      const { exitCode, stderr, stdout } = await folder.run(args);
      expect([args[0], exitCode]).toEqual([args[0], 2]);
      expect(stderr).toContain(says);
      expect(stderr + stdout).not.toMatch(/s3cret|wr0ng/);
    }
    expect(standIn.requests).toHaveLength(asked);
  },
);
