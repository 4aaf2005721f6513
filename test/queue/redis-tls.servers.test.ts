import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkQueue } from '../../src/checks/doctor/queue.js';
import { openRedisConnection } from '../../src/queue/redis-connection.js';
import { type CertificateFiles, certificateNeeds, makeCertificate } from '../support/machine.js';
import { redisNeeds, startRedis } from '../support/redis.js';
import { findFreePort } from '../support/sftp-server.js';
import { trustAuthority } from '../support/trusted-authority.js';

const password = 's3cret-pa55word';

/** A Redis with TLS that requires a password, and counts logins. */
async function startWith({ certificate, key }: CertificateFiles) {
  const port = await findFreePort();
  const tls = ['--tls-port', `${port}`, '--tls-cert-file', certificate, '--tls-key-file', key];
  const redis = await startRedis({
    args: [...tls, '--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'],
  });
  onTestFinished(() => redis.close());
  await redis.ask((client) => client.config('SET', 'requirepass', password));
  return {
    url: `rediss://:${password}@localhost:${port}`,
    async countLogins() {
      const client = new Redis(redis.port, '127.0.0.1', { password });
      try {
        return Number(/cmdstat_auth:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
      } finally {
        client.disconnect();
      }
    },
  };
}

async function ping(url: string, ca?: string): Promise<string> {
  const { client, answered, close } = openRedisConnection({ url, ca, answerMs: 2_000, onNotice() {} });
  try {
    return await answered(() => client.ping());
  } catch (error) {
    return String(error);
  } finally {
    close();
  }
}

describe('Redis over TLS', () => {
  beforeEach(({ skip }) => {
    skip(redisNeeds !== undefined, redisNeeds);
    skip(certificateNeeds !== undefined, certificateNeeds);
  });

  it.each(['named', 'trusted'])('is used by queue and doctor if its authority is %s', async (how) => {
    const files = makeCertificate('DNS:localhost');
    const { url } = await startWith(files);
    const ca = how === 'named' ? files.certificate : undefined;
    if (ca === undefined) trustAuthority(files.certificate);
    expect(await ping(url, ca)).toBe('PONG');
    const findings = await checkQueue({ url, ca, answerMs: 2_000 });
    expect(findings[0]).toMatchObject({ verdict: 'ok' });
  });

  it.each([
    ['of an unknown authority', 'DNS:localhost', false],
    ['of another server', 'DNS:elsewhere', true],
  ])('does not get the password with a certificate %s', async (_, name, isKnown) => {
    const files = makeCertificate(name);
    const { url, countLogins } = await startWith(files);
    const before = await countLogins();
    if (isKnown) trustAuthority(files.certificate);
    expect(await ping(url)).toMatch(/certificate|altnames/i);
    // The one additional login is that of the count itself.
    expect(await countLogins()).toBe(before + 1);
  });
});
