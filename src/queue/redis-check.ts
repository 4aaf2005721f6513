import type { Redis } from 'ioredis';

/** The oldest server that BullMQ vouches for. */
const oldestVersion = { major: 6, minor: 2 };

/** `wrong`: the queue would lose steps or not work at all. */
export interface RedisFinding {
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** What the server tells of itself, and a setting where it may be asked for. */
interface Told {
  readonly info: ReadonlyMap<string, string>;
  /** Undefined where the server keeps its settings to itself, as managed ones do. */
  setting(name: string): Promise<string | undefined>;
}

/**
 * Looks whether a server carries the queue: its version and kind, what it does when its memory is full, and whether it keeps
 * anything on disk.
 *
 * @throws ReplyError where the user may not ask for INFO
 */
export async function checkRedis(connection: Pick<Redis, 'info' | 'config'>): Promise<RedisFinding[]> {
  const told: Told = {
    info: parseInfo(await connection.info()),
    async setting(name) {
      try {
        return readSetting(await connection.config('GET', name));
      } catch {
        return undefined;
      }
    },
  };
  return [checkVersion(told), ...checkKind(told), await checkEviction(told), await checkPersistence(told)];
}

function checkVersion({ info }: Told): RedisFinding {
  const version = info.get('redis_version') ?? '';
  const numbers = /^(\d+)\.(\d+)/.exec(version);
  if (!numbers) {
    return {
      verdict: 'warning',
      message: 'the server does not tell its version',
      advice: `Is it Redis ${oldest} or newer, or a server that does all that this one does?`,
    };
  }
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  const isOld = major < oldestVersion.major || (major === oldestVersion.major && minor < oldestVersion.minor);
  return isOld
    ? { verdict: 'wrong', message: `Redis ${version} is too old`, advice: `Use ${oldest} or newer.` }
    : { verdict: 'ok', message: `Redis ${version}` };
}

const oldest = `${oldestVersion.major}.${oldestVersion.minor}`;

function checkKind({ info }: Told): RedisFinding[] {
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
    const message = 'the server is a replica, which takes nothing';
    found.push({ verdict: 'wrong', message, advice: 'Use the address of the primary server.' });
  }
  return found;
}

async function checkEviction(told: Told): Promise<RedisFinding> {
  const policy = (await told.setting('maxmemory-policy')) ?? told.info.get('maxmemory_policy');
  if (policy === 'noeviction') return { verdict: 'ok', message: 'maxmemory-policy is noeviction' };
  const advice =
    'Set it with CONFIG SET maxmemory-policy noeviction, and in redis.conf; of a managed server, in its parameters.';
  return policy === undefined
    ? { verdict: 'warning', message: 'the server does not tell its maxmemory-policy', advice }
    : {
        verdict: 'wrong',
        message: `maxmemory-policy is ${policy}: when memory is short, the server would remove parts of the queue`,
        advice,
      };
}

async function checkPersistence(told: Told): Promise<RedisFinding> {
  if (told.info.get('aof_enabled') === '1') {
    return { verdict: 'ok', message: 'what it holds is kept on disk (appendonly)' };
  }
  const snapshots = await told.setting('save');
  if (snapshots)
    return { verdict: 'ok', message: `what it holds is kept on disk (snapshots: save ${snapshots})` };
  const message =
    snapshots === undefined
      ? 'appendonly is off, and the server does not tell whether it keeps snapshots'
      : 'what it holds is not kept on disk';
  return {
    verdict: 'warning',
    message: `${message}: the ledger rebuilds the queue, but what waits stands still until then, and a hold-off is forgotten`,
    advice: 'Set it with CONFIG SET appendonly yes, and in redis.conf.',
  };
}

/** `name:value`, a line each. */
function parseInfo(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value] = /^([^#:]+):(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return new Map(pairs);
}

/** @param answer name and value, or nothing where the server has no such setting */
function readSetting(answer: unknown): string | undefined {
  const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
  return typeof value === 'string' ? value : undefined;
}
