import { Redis } from 'ioredis';
import { type Finding, findingsOf } from '../examination/finding.js';
import { queueName, queuePrefix } from '../queue/bullmq-jobs.js';
import { checkRedis, checkRights, type RedisFinding, rightsAdvice } from '../queue/redis-check.js';
import { describeRedis, describeRefusal, readRedisTls } from '../queue/redis-connection.js';

const { ok, wrong } = findingsOf('queue');

interface QueueCheckParts {
  /** `redis://` or `rediss://`, with user, password and database number where needed. */
  readonly url: string;
  /** The file of the authority's certificate; with it TLS is required. */
  readonly ca?: string | undefined;
  /** How long the server may take for all of it. */
  readonly answerMs: number;
}

interface QueueExamination {
  readonly findings: readonly Finding[];
  /** The one for which waiting does not help, if there is one. */
  readonly refusal?: Finding | undefined;
}

/** Connects once and checks whether the server is fit for the queue. Writes nothing. */
export async function checkQueue(parts: QueueCheckParts, signal: AbortSignal): Promise<readonly Finding[]> {
  return (await examineQueue(parts, signal)).findings;
}

/** The same, and whether the server will refuse the queue until somebody changes something. */
export async function examineQueue(
  { url, ca, answerMs }: QueueCheckParts,
  signal: AbortSignal,
): Promise<QueueExamination> {
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
    const found = await look(client);
    const refusal = found.find(({ isLasting }) => isLasting);
    return {
      findings: [ok(`${address} answers`), ...found.map(toFinding)],
      refusal: refusal && toFinding(refusal),
    };
  } catch (error) {
    const reason = cause ?? (error instanceof Error ? describeRefusal(error) : String(error));
    const finding = wrong(`${address} cannot be used: ${reason}`, adviseOn(reason));
    return { findings: [finding], refusal: isRefused(reason) ? finding : undefined };
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    client.disconnect();
  }
}

async function look(client: Redis): Promise<readonly RedisFinding[]> {
  const found = await checkRedis(client);
  // A replica refuses the commands of the probe, and a cluster may send it elsewhere.
  if (found.some(({ isLasting }) => isLasting)) return found;
  const missing = await checkRights(client, `${queuePrefix}:${queueName}:rights-probe`);
  return missing ? [...found, missing] : found;
}

function toFinding({ verdict, message, advice }: RedisFinding): Finding {
  return { part: 'queue', verdict, message, ...(advice && { advice }) };
}

const wrongLogin =
  /WRONGPASS|NOAUTH|invalid password|without any password configured|unknown command 'auth'/i;
const missingRight = /NOPERM/;

function isRefused(reason: string): boolean {
  return wrongLogin.test(reason) || missingRight.test(reason);
}

function adviseOn(reason: string): string {
  if (wrongLogin.test(reason))
    return 'Are user and password right? They are part of the address, percent-encoded: redis://USER:PASSWORD@HOST.';
  if (missingRight.test(reason)) return rightsAdvice;
  return 'Is the server running, and are host, port and protocol right (redis:// plain, rediss:// with TLS)?';
}
