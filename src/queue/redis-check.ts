import type { Redis } from 'ioredis';

/** The oldest version that BullMQ supports. */
const oldestVersion = { major: 6, minor: 2 };

/** `wrong`: the queue would lose steps or not work at all. */
export interface RedisFinding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly message: string;
  /** How to fix it. */
  readonly advice?: string;
  /** Waiting does not help: the server would refuse every step until somebody changes something. */
  readonly isLasting?: true;
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
      isLasting: true,
    });
  }
  if (info.get('role') === 'slave') {
    const message = 'the server is a replica, which accepts no writes';
    found.push({
      verdict: 'wrong',
      message,
      advice: 'Use the address of the primary server.',
      isLasting: true,
    });
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

/** Commands that the queue needs, on a key that does not exist: they change nothing, and are refused like all of their kind. */
const rightsProbe = `
redis.call("HDEL", KEYS[1], "field")
redis.call("LREM", KEYS[1], 0, "member")
redis.call("SREM", KEYS[1], "member")
redis.call("ZREM", KEYS[1], "member")
redis.call("XTRIM", KEYS[1], "MAXLEN", 0)
redis.call("DEL", KEYS[1])
return 1`;

/**
 * Whether the user may run scripts and write to the keys of the queue; nothing is written.
 *
 * @param key one that nothing else uses
 */
export async function checkRights(
  connection: Pick<Redis, 'eval'>,
  key: string,
): Promise<RedisFinding | undefined> {
  try {
    await connection.eval(rightsProbe, 1, key);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && /NOPERM|executing the script can.t/i.test(error.message))) throw error;
    return {
      verdict: 'wrong',
      message: 'the user may not run scripts, or not write to the keys of the queue (NOPERM)',
      advice: rightsAdvice,
      isLasting: true,
    };
  }
}

export const rightsAdvice = 'Allow the user to run INFO, scripts, and commands on the keys hotel-review:*.';

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
