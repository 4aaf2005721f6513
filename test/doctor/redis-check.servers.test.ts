import { describe, expect, it } from 'vitest';
import { checkRedis } from '../../src/checks/doctor/queue.js';
import { useRedis } from '../support/use-servers.js';

describe('a real server', () => {
  const redis = useRedis();

  it('reports its settings', async () => {
    const look = async () => (await redis().ask(checkRedis)).findings;
    expect((await look()).map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok']);
    await redis().ask((client) => client.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    await redis().ask((client) => client.config('SET', 'appendonly', 'no'));
    expect((await look()).map(({ verdict }) => verdict)).toEqual(['ok', 'wrong', 'warning']);
    await redis().ask((client) => client.config('SET', 'save', '3600 1'));
    expect((await look())[2]?.message).toContain('save 3600 1');
  });
});
