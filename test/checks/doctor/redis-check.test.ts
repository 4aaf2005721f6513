import RedisMock from 'ioredis-mock';
import { expect, it, onTestFinished } from 'vitest';
import { checkRedis } from '../../../src/checks/doctor/queue.js';

const good = {
  redis_version: '7.2.4',
  redis_mode: 'standalone',
  maxmemory_policy: 'noeviction',
  aof_enabled: '1',
};
const hidden = new Error("NOPERM this user has no permissions to run the 'config|get' command");

/** What doctor says of a server with this INFO and these settings. */
async function say(info: Partial<typeof good>, settings: Record<string, string> | Error = {}) {
  const lines = Object.entries({ ...good, ...info }).map(([name, value]) => `${name}:${value}`);
  const server = new RedisMock();
  onTestFinished(() => server.disconnect());
  const client = Object.assign(server, {
    info: async () => ['# Server', ...lines, ''].join('\r\n'),
    config: async (_get: string, name: string) => {
      if (settings instanceof Error) throw settings;
      return name in settings ? [name, settings[name]] : [];
    },
  });
  const [answers, ...findings] = await checkRedis('redis://cache', client);
  expect(answers).toMatchObject({ verdict: 'ok', message: 'redis://cache:6379 answers' });
  return findings.map(({ verdict, message }) => `${verdict}: ${message}`);
}

const fine = [
  'ok: Redis 7.2.4',
  'ok: maxmemory-policy is noeviction',
  'ok: data is persisted to disk (appendonly)',
];

it('a suitable server is reported as such, even if it hides its settings, as managed servers do', async () => {
  expect(await say({})).toEqual(fine);
  expect(await say({}, hidden)).toEqual(fine);
});

it.each([
  ...['6.2.0', '10.0.0'].map((version) => [version, `ok: Redis ${version}`]),
  ...['2.8.24', '6.1.240'].map((version) => [version, `wrong: Redis ${version} is too old`]),
  ['', 'warning: the server does not reveal its version'],
])('version %j', async (redis_version, finding) => {
  expect(await say({ redis_version })).toContain(finding);
});

it('a server that deletes what it holds is wrong', async () => {
  const wrong = expect.stringMatching(/^wrong: maxmemory-policy is allkeys-lru: when memory runs out/);
  expect(await say({}, { 'maxmemory-policy': 'allkeys-lru' })).toContainEqual(wrong);
  expect(await say({ maxmemory_policy: 'allkeys-lru' }, hidden)).toContainEqual(wrong);
});

it('a server without persistence is a warning, because the ledger rebuilds the queue', async () => {
  const off = { aof_enabled: '0' };
  expect(await say(off, { save: '3600 1' })).toContain(
    'ok: data is persisted to disk (snapshots: save 3600 1)',
  );
  const warning = /^warning: data is not persisted to disk: after a restart the ledger rebuilds/;
  expect(await say(off, { save: '' })).toContainEqual(expect.stringMatching(warning));
  expect(await say(off, hidden)).toContainEqual(expect.stringMatching(/^warning: appendonly is off/));
});

it('a cluster and a sentinel are refused', async () => {
  for (const redis_mode of ['cluster', 'sentinel'])
    await expect(say({ redis_mode })).rejects.toMatchObject({
      fault: 'unsuited',
      message: expect.stringMatching(/its mode is .*must name a primary server without cluster mode/),
    });
});
