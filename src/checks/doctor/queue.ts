import { Redis } from 'ioredis';
import { needsPerson } from '../../base/peer-patience.js';
import { probeRights } from '../../queue/bullmq-jobs.js';
import {
  describeRedis,
  describeRefusal,
  judgeRedis,
  lacksRight,
  type RedisAddress,
  readRedisTls,
} from '../../queue/redis-connection.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('queue');

/**
 * Connects once and checks whether the server is fit for the queue. Writes nothing.
 *
 * @param answerMs how long the server may take for all of it
 * @returns `refusal`: the finding for which waiting does not help, if there is one: the server would refuse every step
 * until somebody changes something
 */
export async function checkQueue(
  { url, ca, answerMs }: RedisAddress & { readonly answerMs: number },
  signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly refusal?: Finding | undefined }> {
  const address = describeRedis(url);
  const client = new Redis(url, {
    ...readRedisTls(ca),
    lazyConnect: true,
    connectTimeout: answerMs,
    disconnectTimeout: 500,
    retryStrategy: () => null,
    // The driver's own check asks the same, and prints to the terminal if that is not allowed.
    enableReadyCheck: false,
  });
  // The first error says more than the close that follows.
  let cause: string | undefined;
  client.on('error', (error) => {
    cause ??= describeRefusal(error);
  });
  const stop = () => client.disconnect();
  signal.addEventListener('abort', stop, { once: true });
  const late = setTimeout(() => {
    cause ??= `no answer within ${answerMs} ms`;
    client.disconnect();
  }, answerMs);
  try {
    await client.connect();
    const { findings, unusable, isReplica } = await checkRedis(client);
    // A replica refuses the commands of the probe, a sentinel does not know them, and a cluster may send it elsewhere.
    const missing = unusable || isReplica ? undefined : await checkRights(client);
    return {
      findings: [ok(`${address} answers`), ...findings, ...(missing ? [missing] : [])],
      refusal: unusable ?? missing,
    };
  } catch (error) {
    const reason = cause ?? (error instanceof Error ? describeRefusal(error) : String(error));
    const finding = wrong(`${address} cannot be used: ${reason}`, adviseOn(reason));
    return { findings: [finding], refusal: needsPerson(judgeRedis(reason)) ? finding : undefined };
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    client.disconnect();
  }
}

const rightsAdvice = 'Allow the user to run INFO, scripts, and commands on the keys hotel-review:*.';

function adviseOn(reason: string): string {
  switch (judgeRedis(reason)) {
    case 'refused':
      return lacksRight(reason)
        ? rightsAdvice
        : 'Are user and password right? They are part of the address, percent-encoded: redis://USER:PASSWORD@HOST.';
    case 'unsuited':
      return 'Use the address of a server without cluster mode, whose certificate is trusted.';
    case 'read-only':
    case 'passing':
      return 'Is the server running, and are host, port and protocol right (redis:// plain, rediss:// with TLS)?';
  }
}

/** The oldest version that BullMQ supports. */
const oldestVersion = { major: 6, minor: 2 };
const oldest = `${oldestVersion.major}.${oldestVersion.minor}`;

/** What the server says about itself, one `name:value` per line. */
type ServerInfo = ReadonlyMap<string, string>;

/**
 * Checks a server's version and mode, what it does when its memory is full, and whether it persists data.
 *
 * @returns `unusable`: why the queue cannot use the server at all
 * @throws ReplyError where the user may not call INFO
 */
export async function checkRedis(client: Redis) {
  const info: ServerInfo = new Map(
    Array.from((await client.info()).matchAll(/^([^#:\r\n]+):(.*)$/gm), ([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const unusable = checkMode(info);
  // What else it says is not about the queue's server.
  if (unusable) return { findings: [checkVersion(info), unusable], unusable, isReplica: false };
  const isReplica = info.get('role') === 'slave';
  const findings = [
    checkVersion(info),
    ...(isReplica
      ? [wrong('the server is a replica, which accepts no writes', 'Use the address of the primary server.')]
      : []),
    await checkEviction(client, info),
    await checkPersistence(client, info),
  ];
  return { findings, unusable: undefined, isReplica };
}

/** Undefined where the server does not reveal its settings, as managed servers often don't. */
async function readSetting(client: Redis, name: string): Promise<string | undefined> {
  try {
    // Name and value, or nothing where the server has no such setting.
    const answer: unknown = await client.config('GET', name);
    const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkVersion(info: ServerInfo): Finding {
  const version = info.get('redis_version') ?? '';
  const numbers = /^(\d+)\.(\d+)/.exec(version);
  if (!numbers)
    return warning(
      'the server does not reveal its version',
      `Make sure that it is Redis ${oldest} or newer, or fully compatible with it.`,
    );
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  const isOld = major < oldestVersion.major || (major === oldestVersion.major && minor < oldestVersion.minor);
  return isOld ? wrong(`Redis ${version} is too old`, `Use ${oldest} or newer.`) : ok(`Redis ${version}`);
}

function checkMode(info: ServerInfo): Finding | undefined {
  switch (info.get('redis_mode')) {
    case 'cluster':
      return wrong(
        'the server is part of a cluster, which the queue cannot use',
        'Use a server (or a primary with replicas) without cluster mode.',
      );
    case 'sentinel':
      return wrong(
        'the server is a sentinel, which holds no data',
        'Use the address of the primary server that it watches.',
      );
    default:
      return undefined;
  }
}

async function checkEviction(client: Redis, info: ServerInfo): Promise<Finding> {
  const policy = (await readSetting(client, 'maxmemory-policy')) ?? info.get('maxmemory_policy');
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

async function checkPersistence(client: Redis, info: ServerInfo): Promise<Finding> {
  if (info.get('aof_enabled') === '1') return ok('data is persisted to disk (appendonly)');
  const snapshots = await readSetting(client, 'save');
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

/** Whether the user may run scripts and write to the keys of the queue; nothing is written. */
async function checkRights(client: Redis): Promise<Finding | undefined> {
  try {
    await probeRights(client);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && judgeRedis(error.message) === 'refused')) throw error;
    return wrong(
      'the user may not run scripts, or not write to the keys of the queue (NOPERM)',
      rightsAdvice,
    );
  }
}
