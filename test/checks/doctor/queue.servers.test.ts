import { afterEach, describe, expect, it } from 'vitest';
import { checkQueue } from '../../../src/checks/doctor/queue.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { useRedis } from '../../support/use-servers.js';

const redis = useRedis();
const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop();
});

/** What doctor finds, or why the queue can't be used. */
const look = (url: string, answerMs = 2_000) =>
  checkQueue({ url, answerMs }).catch((error: unknown) => [{ verdict: 'wrong', message: String(error) }]);

describe('a Redis that is suitable for the queue', () => {
  it('is reported without its password, and nothing is written to it', async () => {
    await redis().ask((client) =>
      client.call('ACL', 'SETUSER', 'reviewer', 'on', '>s3cret', 'allkeys', 'allcommands'),
    );
    const findings = await look(`redis://reviewer:s3cret@127.0.0.1:${redis().port}/3`);
    expect(findings.map(({ verdict }) => verdict)).toEqual(Array(4).fill('ok'));
    expect(findings[0]?.message).toBe(`redis://127.0.0.1:${redis().port}/3 answers`);
    expect(JSON.stringify(findings)).not.toMatch(/s3cret|reviewer/);
    expect(await redis().readEverything()).toBe('[]');
  });
});

describe('a Redis that is not suitable', () => {
  it.each([
    ['allkeys +@all -@write', 's3cret', /NOPERM|executing the script can't/],
    ['~others:* +@all', 's3cret', /NOPERM/],
    ['allkeys +@all', 'wr0ng', /WRONGPASS.*check user, password and rights/],
  ])(
    'is wrong for a user with %s and the password %s, which is not shown',
    async (rules, password, words) => {
      await redis().ask((client) =>
        client.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>s3cret', ...rules.split(' ')),
      );
      const findings = await look(`redis://narrow:${password}@127.0.0.1:${redis().port}`);
      expect(findings).toMatchObject([{ verdict: 'wrong', message: expect.stringMatching(words) }]);
      expect(JSON.stringify(findings)).not.toMatch(/s3cret|wr0ng|narrow/);
    },
  );

  it('is wrong if it accepts the connection and never responds', async () => {
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
});
