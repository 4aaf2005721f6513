import { Redis } from 'ioredis';
import { type Finding, findingsOf } from '../examination/finding.js';
import { checkRedis } from '../queue/redis-check.js';
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

/** Connects once and checks whether the server is fit for the queue. Writes nothing. */
export async function checkQueue(
  { url, ca, answerMs }: QueueCheckParts,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
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
    const findings = await checkRedis(client);
    const notes = findings.map(
      ({ verdict, message, advice }): Finding => ({
        part: 'queue',
        verdict,
        message,
        ...(advice && { advice }),
      }),
    );
    return [ok(`${address} answers`), ...notes];
  } catch (error) {
    const reason = cause ?? (error instanceof Error ? describeRefusal(error) : String(error));
    return [wrong(`${address} cannot be used: ${reason}`, adviseOn(reason))];
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    client.disconnect();
  }
}

function adviseOn(reason: string): string {
  if (/WRONGPASS|NOAUTH|invalid password/.test(reason))
    return 'Are user and password right? They are part of the address, percent-encoded: redis://USER:PASSWORD@HOST.';
  if (/NOPERM/.test(reason))
    return 'Allow the user to run INFO, scripts, and commands on the keys hotel-review:*.';
  return 'Is the server running, and are host, port and protocol right (redis:// plain, rediss:// with TLS)?';
}
