import { Redis } from 'ioredis';
import { type Finding, findingsOf } from '../examination/finding.js';
import { checkRedis } from '../queue/redis-check.js';
import { describeRedis, describeRefusal } from '../queue/redis-connection.js';

const { ok, wrong } = findingsOf('queue');

export interface QueueCheckParts {
  /** `redis://` or `rediss://`, with user, password and database number where needed. */
  readonly url: string;
  /** How long the server may take for all of it. */
  readonly answerMs: number;
}

/** Connects once and looks whether the server is fit to carry the queue. Nothing is written. */
export async function checkQueue(
  { url, answerMs }: QueueCheckParts,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const address = describeRedis(url);
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerMs,
    disconnectTimeout: 500,
    retryStrategy: () => null,
    // It asks what is asked here anyway, and prints to the terminal where that is forbidden.
    enableReadyCheck: false,
  });
  // What comes of an error first says more than that the connection then closed.
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
    const told = findings.map(
      ({ verdict, message, advice }): Finding => ({
        part: 'queue',
        verdict,
        message,
        ...(advice && { advice }),
      }),
    );
    return [ok(`${address} answers`), ...told];
  } catch (error) {
    const reason = cause ?? (error instanceof Error ? describeRefusal(error) : String(error));
    return [wrong(`${address} does not answer as it should: ${reason}`, adviseOn(reason))];
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    client.disconnect();
  }
}

function adviseOn(reason: string): string {
  if (/WRONGPASS|NOAUTH|invalid password/.test(reason))
    return 'Are user and password right? They stand in the address: redis://USER:PASSWORD@HOST, percent-encoded.';
  if (/NOPERM/.test(reason))
    return 'Give the user the rights to run INFO, scripts, and commands on the keys hotel-review:*.';
  return 'Is the server up, and are host, port and protocol right (redis:// plain, rediss:// with TLS)?';
}
