import RedisMock from 'ioredis-mock';
import { afterEach, describe, expect, it } from 'vitest';
import { checkRedis } from '../../src/checks/doctor/queue.js';

const good = {
  redis_version: '7.2.4',
  redis_mode: 'standalone',
  role: 'master',
  maxmemory_policy: 'noeviction',
  aof_enabled: '1',
};
const forbidden = new Error("NOPERM this user has no permissions to run the 'config|get' command");

const servers: InstanceType<typeof RedisMock>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.disconnect();
});

/** A stand-in with this INFO and these settings. */
function serverThat(info: Partial<typeof good>, settings: Record<string, string> | Error = {}) {
  const lines = Object.entries({ ...good, ...info }).map(([name, value]) => `${name}:${value}`);
  const server = new RedisMock();
  servers.push(server);
  return Object.assign(server, {
    info: async () => ['# Server', ...lines, ''].join('\r\n'),
    config: async (_get: string, name: string) => {
      if (settings instanceof Error) throw settings;
      return name in settings ? [name, settings[name]] : [];
    },
  });
}

async function findingsOf(...server: Parameters<typeof serverThat>): Promise<string[]> {
  const { findings } = await checkRedis(serverThat(...server));
  return findings.map(({ verdict, message }) => `${verdict}: ${message}`);
}

describe('a suitable server', () => {
  it('is reported as such', async () => {
    expect(await findingsOf({})).toEqual([
      'ok: Redis 7.2.4',
      'ok: maxmemory-policy is noeviction',
      'ok: data is persisted to disk (appendonly)',
    ]);
  });

  it('may hide its settings, as managed servers do', async () => {
    expect(await findingsOf({}, forbidden)).toEqual(await findingsOf({}));
  });

  it('may only take snapshots', async () => {
    expect(await findingsOf({ aof_enabled: '0' }, { save: '3600 1 300 100' })).toContain(
      'ok: data is persisted to disk (snapshots: save 3600 1 300 100)',
    );
  });
});

describe('a version', () => {
  it.each(['6.2.0', '6.10.1', '7.0.15', '10.0.0'])('%s is accepted', async (redis_version) => {
    expect(await findingsOf({ redis_version })).toContain(`ok: Redis ${redis_version}`);
  });

  it.each(['2.8.24', '5.0.14', '6.0.16', '6.1.240'])('%s is too old', async (redis_version) => {
    const { findings } = await checkRedis(serverThat({ redis_version }));
    expect(findings[0]).toEqual({
      verdict: 'wrong',
      part: 'queue',
      message: `Redis ${redis_version} is too old`,
      advice: 'Use 6.2 or newer.',
    });
  });

  it('that is unknown is a warning', async () => {
    expect((await findingsOf({ redis_version: '' }))[0]).toBe(
      'warning: the server does not reveal its version',
    );
  });
});

describe('the eviction policy', () => {
  it.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl'])('%s is wrong', async (policy) => {
    const { findings } = await checkRedis(serverThat({}, { 'maxmemory-policy': policy }));
    expect(findings[1]).toMatchObject({
      verdict: 'wrong',
      message: expect.stringContaining(`maxmemory-policy is ${policy}`),
      advice: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
    });
    expect((await findingsOf({ maxmemory_policy: policy }, forbidden))[1]).toContain(
      `wrong: maxmemory-policy is ${policy}`,
    );
  });

  it('is a warning when unknown', async () => {
    const server = serverThat({}, forbidden);
    const info = async () => 'redis_version:7.2.4\r\n';
    const { findings } = await checkRedis(Object.assign(server, { info }));
    expect(findings.map(({ verdict }) => verdict)).toEqual(['ok', 'warning', 'warning']);
  });
});

describe('a server without persistence', () => {
  it('is a warning, because the ledger rebuilds the queue', async () => {
    const { findings } = await checkRedis(serverThat({ aof_enabled: '0' }, { save: '' }));
    expect(findings[2]).toMatchObject({
      verdict: 'warning',
      message: expect.stringContaining('data is not persisted to disk: after a restart the ledger rebuilds'),
      advice: expect.stringContaining('appendonly yes'),
    });
  });

  it('is a warning when its snapshots are unknown', async () => {
    expect((await findingsOf({ aof_enabled: '0' }, forbidden))[2]).toContain('warning: appendonly is off');
  });
});

describe('a server in a mode that the queue cannot use', () => {
  it.each([
    [{ redis_mode: 'cluster' }, 'wrong: the server is part of a cluster, which the queue cannot use'],
    [{ role: 'slave' }, 'wrong: the server is a replica, which accepts no writes'],
  ])('%j is wrong', async (info, finding) => {
    expect(await findingsOf(info)).toContain(finding);
  });
});
