import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkQueue } from '../../src/doctor/queue.js';
import { openRedisConnection, type QueueNotice } from '../../src/queue/redis-connection.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';

const answerMs = 1_000;

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

  it('is reported the same way by doctor', async () => {
    const { findings } = await checkQueue({ url, answerMs }, new AbortController().signal);
    expect(findings).toMatchObject([
      { verdict: 'wrong', message: expect.stringContaining('unknown command') },
    ]);
    expect(JSON.stringify(findings)).not.toMatch(/s3cret|reviewer/);
  });
});
