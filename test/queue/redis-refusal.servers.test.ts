import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PeerFault } from '../../src/base/peer-patience.js';
import { checkQueue } from '../../src/checks/doctor/queue.js';
import { judgeRedis, openRedisConnection, type QueueNotice } from '../../src/queue/redis-connection.js';
import { settled } from '../contracts/queue-worker.js';
import { patienceMs } from '../support/patience.js';
import { type RunningRedis, redisNeeds, startRedis, startSentinel } from '../support/redis.js';
import { answerMs, useQueues } from './opened-queues.js';

/** Such a server quotes the arguments of the unknown command. */
describe('a server without AUTH', () => {
  let redis: RunningRedis | undefined;
  let url: string;
  beforeEach(async ({ skip }) => {
    skip(redisNeeds !== undefined, redisNeeds);
    redis = await startRedis({ args: ['--rename-command', 'AUTH', ''] });
    url = `redis://reviewer:s3cret@127.0.0.1:${redis.port}`;
  });
  afterEach(() => redis?.close());

  it('is reported as refusing, without the password that was sent', async () => {
    const notices: QueueNotice[] = [];
    const { client, answered, close } = openRedisConnection({
      url,
      answerMs,
      onNotice: (notice) => notices.push(notice),
    });
    const fault = await answered(() => client.info()).catch(String);
    close();
    expect(notices).toMatchObject([{ type: 'queue-away', reason: "ERR unknown command 'auth'" }]);
    expect(JSON.stringify([notices, fault])).not.toMatch(/s3cret|reviewer/);
  });
});

describe('a server that', () => {
  const openQueue = useQueues();
  let redis: RunningRedis;
  beforeEach(async ({ skip }) => {
    skip(redisNeeds !== undefined, redisNeeds);
    redis = await startRedis();
    onTestFinished(() => redis.close());
  });

  const checkOnce = (url: string) => checkQueue({ url, answerMs });
  it('is a sentinel is named as one at the start, and refused', async () => {
    const sentinel = await startSentinel(redis.port);
    onTestFinished(() => sentinel.close());
    await expect(checkOnce(sentinel.url)).rejects.toMatchObject({
      fault: 'unsuited',
      message: expect.stringContaining('its mode is sentinel'),
    });
    const { queue } = openQueue({ url: sentinel.url, answerMs });
    await expect(queue.check()).rejects.toMatchObject({ fault: 'unsuited' });
  });

  it('is read-only may be so for a moment: it is not refused, says so, and is used once it takes writes', async () => {
    await redis.ask((client) => client.call('REPLICAOF', '127.0.0.1', '1'));
    await expect(checkOnce(redis.url)).rejects.toMatchObject({ fault: 'read-only' });
    const { queue, notices } = openQueue({ url: redis.url, answerMs });
    await expect(queue.check()).rejects.toMatchObject({
      fault: 'read-only',
      message: expect.stringMatching(/READONLY/),
    });
    await settled(() =>
      expect(notices).toMatchObject([{ type: 'queue-away', reason: expect.stringMatching(/READONLY/) }]),
    );
    await redis.ask((client) => client.call('REPLICAOF', 'NO', 'ONE'));
    await vi.waitFor(() => queue.check(), { timeout: patienceMs });
    expect(notices.at(-1)?.type).toBe('queue-back');
  });

  it('asks for a password in the middle is said to do so, and is used once it does not', () =>
    // This connection stays: a server asks for a password only when somebody connects.
    redis.ask(async (administrator) => {
      const { queue, worker, notices } = openQueue({ url: redis.url, answerMs });
      worker.start();
      await queue.check();
      await administrator.config('SET', 'requirepass', 's3cret');
      await administrator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const reason = expect.stringMatching(/NOAUTH/);
      await settled(() => expect(notices.at(-1)).toMatchObject({ type: 'queue-away', reason }));
      await expect(queue.check()).rejects.toMatchObject({ fault: 'refused', message: reason });
      await expect(queue.check()).rejects.toThrow('check user, password and rights');
      await expect(checkOnce(redis.url)).rejects.toMatchObject({ fault: 'refused', message: reason });
      await administrator.config('SET', 'requirepass', '');
      await settled(() => expect(notices.at(-1)?.type).toBe('queue-back'));
      await queue.check();
    }));
});

describe('what a server says', () => {
  it.each<[PeerFault, string]>([
    ['refused', 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['refused', "NOPERM this user has no permissions to run the 'evalsha' command"],
    ['unsuited', "ERR unknown command 'evalsha'"],
    ['unsuited', 'MOVED 3999 10.0.0.1:6381'],
    ['unsuited', 'CLUSTERDOWN The cluster is down'],
    ['unsuited', "Hostname/IP does not match certificate's altnames"],
    ['read-only', "READONLY You can't write against a read only replica."],
    ['read-only', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ['passing', 'LOADING Redis is loading the dataset in memory'],
    ['passing', 'no answer within 5000 ms'],
  ])('is %s: %s', (fault, said) => {
    expect(judgeRedis(said)).toBe(fault);
  });
});
