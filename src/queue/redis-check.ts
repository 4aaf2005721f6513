import type { Redis } from 'ioredis';

/** The oldest version that BullMQ supports. */
const oldestVersion = { major: 6, minor: 2 };

/** `wrong`: the queue would lose steps or not work at all. */
export interface RedisFinding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly message: string;
  /** How to fix it. */
  readonly advice?: string;
}

/** What the server says about itself. */
interface ServerFacts {
  readonly info: ReadonlyMap<string, string>;
  /** Undefined where the server does not reveal its settings, as managed servers often don't. */
  setting(name: string): Promise<string | undefined>;
}

/**
 * Checks whether a server is suitable for the queue: its version and mode, what it does when its memory is full, and
 * whether it persists data.
 *
 * @throws ReplyError where the user may not call INFO
 */
export async function checkRedis(connection: Pick<Redis, 'info' | 'config'>): Promise<RedisFinding[]> {
  const facts: ServerFacts = {
    info: parseInfo(await connection.info()),
    async setting(name) {
      try {
        return readSetting(await connection.config('GET', name));
      } catch {
        return undefined;
      }
    },
  };
  return [
    checkVersion(facts),
    ...checkMode(facts),
    await checkEviction(facts),
    await checkPersistence(facts),
  ];
}

function checkVersion({ info }: ServerFacts): RedisFinding {
  const version = info.get('redis_version') ?? '';
  const numbers = /^(\d+)\.(\d+)/.exec(version);
  if (!numbers) {
    return {
      verdict: 'warning',
      message: 'the server does not reveal its version',
      advice: `Make sure that it is Redis ${oldest} or newer, or fully compatible with it.`,
    };
  }
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  const isOld = major < oldestVersion.major || (major === oldestVersion.major && minor < oldestVersion.minor);
  return isOld
    ? { verdict: 'wrong', message: `Redis ${version} is too old`, advice: `Use ${oldest} or newer.` }
    : { verdict: 'ok', message: `Redis ${version}` };
}

const oldest = `${oldestVersion.major}.${oldestVersion.minor}`;

function checkMode({ info }: ServerFacts): RedisFinding[] {
  const found: RedisFinding[] = [];
  if (info.get('redis_mode') === 'cluster') {
    const message = 'the server is part of a cluster, which the queue cannot use';
    found.push({
      verdict: 'wrong',
      message,
      advice: 'Use a server (or a primary with replicas) without cluster mode.',
    });
  }
  if (info.get('role') === 'slave') {
    const message = 'the server is a replica, which accepts no writes';
    found.push({ verdict: 'wrong', message, advice: 'Use the address of the primary server.' });
  }
  return found;
}

async function checkEviction(facts: ServerFacts): Promise<RedisFinding> {
  const policy = (await facts.setting('maxmemory-policy')) ?? facts.info.get('maxmemory_policy');
  if (policy === 'noeviction') return { verdict: 'ok', message: 'maxmemory-policy is noeviction' };
  const advice =
    'Set it with CONFIG SET maxmemory-policy noeviction, and in redis.conf; for a managed server, in its parameters.';
  return policy === undefined
    ? { verdict: 'warning', message: 'the server does not reveal its maxmemory-policy', advice }
    : {
        verdict: 'wrong',
        message: `maxmemory-policy is ${policy}: when memory runs out, the server would delete parts of the queue`,
        advice,
      };
}

async function checkPersistence(facts: ServerFacts): Promise<RedisFinding> {
  if (facts.info.get('aof_enabled') === '1') {
    return { verdict: 'ok', message: 'data is persisted to disk (appendonly)' };
  }
  const snapshots = await facts.setting('save');
  if (snapshots)
    return { verdict: 'ok', message: `data is persisted to disk (snapshots: save ${snapshots})` };
  const message =
    snapshots === undefined
      ? 'appendonly is off, and the server does not reveal whether it takes snapshots'
      : 'data is not persisted to disk';
  return {
    verdict: 'warning',
    message: `${message}: after a restart the ledger rebuilds the queue, but waiting steps stand still until then, and a hold-off is lost`,
    advice: 'Set it with CONFIG SET appendonly yes, and in redis.conf.',
  };
}

/** One `name:value` per line. */
function parseInfo(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value] = /^([^#:]+):(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return new Map(pairs);
}

/** @param answer name and value, or empty where the server has no such setting */
function readSetting(answer: unknown): string | undefined {
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : undefined;
}
