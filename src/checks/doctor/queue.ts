import type { Redis } from 'ioredis';
import { QueueAwayError } from '../../booking/step-queue.js';
import {
  describeRedis,
  openRedisConnection,
  probeRights,
  type RedisAddress,
} from '../../queue/redis-connection.js';
import { type Check, type Finding, findingsOf } from '../check.js';

const { ok, warning, wrong } = findingsOf('queue');

export const queue: Check = {
  part: 'queue',
  async look({ config: { queue } }) {
    return queue.kind === 'redis' ? checkQueue({ ...queue, answerMs: 5_000 }) : [];
  },
};

/**
 * Whether a server of Redis is fit for the queue. Writes nothing.
 *
 * @throws QueueAwayError, which says whether waiting helps
 */
export async function checkQueue(
  address: RedisAddress & { readonly answerMs: number },
): Promise<readonly Finding[]> {
  const { client, answered, close } = openRedisConnection({ ...address, onNotice() {} });
  try {
    const findings = await checkRedis(address.url, client, answered);
    await answered(() => probeRights(client));
    return findings;
  } finally {
    close();
  }
}

/** What the server says about its version and mode, what it does when its memory is full, and whether it persists data. */
export async function checkRedis(
  url: string,
  client: Redis,
  answered: <Answer>(ask: () => Promise<Answer>) => Promise<Answer> = (ask) => ask(),
): Promise<readonly Finding[]> {
  const lines = (await answered(() => client.info())).matchAll(/^([^#:\r\n]+):(.*)$/gm);
  const info = new Map(Array.from(lines, ([, name = '', value = '']) => [name, value]));
  const mode = info.get('redis_mode') ?? 'standalone';
  if (mode !== 'standalone') throw new QueueAwayError(describeRedis(url), `its mode is ${mode}`, 'unsuited');
  /** Undefined where the server does not reveal its settings, as managed servers often don't. */
  const readSetting = async (name: string) => {
    // Name and value, or nothing where the server has no such setting.
    const answer: unknown = await answered(() => client.config('GET', name)).catch(() => undefined);
    const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return [
    ok(`${describeRedis(url)} answers`),
    judgeVersion(info.get('redis_version') ?? ''),
    judgeEviction((await readSetting('maxmemory-policy')) ?? info.get('maxmemory_policy')),
    info.get('aof_enabled') === '1'
      ? ok('data is persisted to disk (appendonly)')
      : judgeSnapshots(await readSetting('save')),
  ];
}

/** 6.2 is the oldest version that BullMQ supports. */
function judgeVersion(version: string): Finding {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  if (major === undefined || minor === undefined)
    return warning(
      'the server does not reveal its version',
      'Make sure that it is Redis 6.2 or newer, or fully compatible with it.',
    );
  const isOld = major < 6 || (major === 6 && minor < 2);
  return isOld ? wrong(`Redis ${version} is too old`, 'Use 6.2 or newer.') : ok(`Redis ${version}`);
}

function judgeEviction(policy: string | undefined): Finding {
  if (policy === 'noeviction') return ok('maxmemory-policy is noeviction');
  const advice =
    'Set it with CONFIG SET maxmemory-policy noeviction, and in redis.conf; for a managed server, in its parameters.';
  return policy === undefined
    ? warning('the server does not reveal its maxmemory-policy', advice)
    : wrong(
        `maxmemory-policy is ${policy}: when memory runs out, the server would delete parts of the queue`,
        advice,
      );
}

function judgeSnapshots(snapshots: string | undefined): Finding {
  if (snapshots) return ok(`data is persisted to disk (snapshots: save ${snapshots})`);
  const message =
    snapshots === undefined
      ? 'appendonly is off, and the server does not reveal whether it takes snapshots'
      : 'data is not persisted to disk';
  return warning(
    `${message}: after a restart the ledger rebuilds the queue, but waiting steps stand still until then, and a hold-off is lost`,
    'Set it with CONFIG SET appendonly yes, and in redis.conf.',
  );
}
