import { afterEach, describe, expect, it } from 'vitest';
import { checkQueue } from '../../src/checks/doctor/queue.js';
import { findFreePort } from '../support/sftp-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { useRedis } from '../support/use-servers.js';

const redis = useRedis();
const signal = new AbortController().signal;
const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop();
});

const look = async (url: string, answerMs = 10_000) => (await checkQueue({ url, answerMs }, signal)).findings;

describe('a Redis that is suitable for the queue', () => {
  it('is reported without its password, and nothing is written to it', async () => {
    await redis().ask((client) =>
      client.call('ACL', 'SETUSER', 'reviewer', 'on', '>s3cret', 'allkeys', 'allcommands'),
    );
    const findings = await look(`redis://reviewer:s3cret@127.0.0.1:${redis().port}/3`);
    expect(findings.map(({ part, verdict }) => [part, verdict])).toEqual(Array(4).fill(['queue', 'ok']));
    expect(findings[0]?.message).toBe(`redis://127.0.0.1:${redis().port}/3 answers`);
    expect(JSON.stringify(findings)).not.toMatch(/s3cret|reviewer/);
    expect(await redis().readEverything()).toBe('[]');
  });
});

describe('a Redis that is not suitable', () => {
  it('is reported with the settings to change', async () => {
    await redis().ask((client) => client.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    const findings = await look(redis().url);
    await redis().ask((client) => client.config('SET', 'maxmemory-policy', 'noeviction'));
    expect(findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([
      {
        part: 'queue',
        verdict: 'wrong',
        message: expect.stringContaining('maxmemory-policy is allkeys-lru'),
        advice: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
      },
    ]);
  });

  it('is wrong with a wrong password, which is not shown', async () => {
    await redis().ask((client) =>
      client.call('ACL', 'SETUSER', 'reviewer', 'on', '>s3cret', 'allkeys', 'allcommands'),
    );
    const [finding, ...others] = await look(`redis://reviewer:wr0ng@127.0.0.1:${redis().port}`);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      verdict: 'wrong',
      message: expect.stringContaining('WRONGPASS'),
      advice: expect.stringContaining('Are user and password right?'),
    });
    expect(JSON.stringify(finding)).not.toMatch(/wr0ng|reviewer/);
  });

  it('is wrong if the user lacks permissions', async () => {
    await redis().ask((client) =>
      client.call('ACL', 'SETUSER', 'narrow', 'on', '>s3cret', '~hotel-review:*', '+@all', '-info'),
    );
    const [finding] = await look(`redis://narrow:s3cret@127.0.0.1:${redis().port}`);
    expect(finding).toMatchObject({
      verdict: 'wrong',
      message: expect.stringContaining('NOPERM'),
      advice: expect.stringContaining('hotel-review:*'),
    });
  });

  it('is wrong if the user may not write to the keys of the queue, or not run scripts', async () => {
    for (const rules of [
      ['allkeys', '+@all', '-@write'],
      ['allkeys', '+@all', '-@scripting'],
      ['~others:*', '+@all'],
    ]) {
      await redis().ask((client) =>
        client.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>s3cret', ...rules),
      );
      const findings = await look(`redis://narrow:s3cret@127.0.0.1:${redis().port}`);
      expect(findings.at(-1)).toMatchObject({ verdict: 'wrong', message: expect.stringContaining('NOPERM') });
    }
  });

  it('is wrong if there is no server', async () => {
    const port = await findFreePort();
    expect(await look(`redis://user:s3cret@127.0.0.1:${port}`)).toEqual([
      {
        part: 'queue',
        verdict: 'wrong',
        message: `redis://127.0.0.1:${port} cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`,
        advice:
          'Is the server running, and are host, port and protocol right (redis:// plain, rediss:// with TLS)?',
      },
    ]);
  });

  it('is wrong after a timeout if it accepts the connection and never responds', async () => {
    const proxy = await startTcpProxy(redis().port);
    proxies.push(proxy);
    proxy.blackHole();
    const findings = await look(`redis://127.0.0.1:${proxy.port}`, 500);
    expect(findings).toMatchObject([
      { verdict: 'wrong', message: expect.stringContaining('no answer within 500 ms') },
    ]);
    expect(proxy.happened.swallowedChunks).toBeGreaterThan(0);
    await proxy.clientsGone();
  });

  it('is no longer checked once the signal aborts', async () => {
    const proxy = await startTcpProxy(redis().port);
    proxies.push(proxy);
    proxy.blackHole();
    const stopping = new AbortController();
    const looking = checkQueue(
      { url: `redis://127.0.0.1:${proxy.port}`, answerMs: 3_600_000 },
      stopping.signal,
    );
    await expect.poll(() => proxy.happened.swallowedChunks).toBeGreaterThan(0);
    stopping.abort();
    await expect(looking).resolves.toMatchObject({ findings: [{ verdict: 'wrong' }] });
  });
});
