import type { Redis } from 'ioredis';

export interface RedisWatchOptions {
  /** How long a peer may keep silent. */
  readonly silentMs: number;
  /** Whether it may be asked at any time: behind a command that blocks, a question would wait. */
  readonly mayBeAsked: boolean;
  readonly onSilent: () => void;
}

/**
 * A peer that falls silent breaks no connection, and the system waits for it for a quarter of an hour. So it is asked now
 * and then, and the connection is broken, and made anew, when it does not answer, or does not end its greeting.
 *
 * @returns stops the watch
 */
export function breakWhenSilent(
  client: Redis,
  { silentMs, mayBeAsked, onSilent }: RedisWatchOptions,
): () => void {
  let isOwing = false;
  const settle = () => {
    isOwing = false;
  };
  client.on('ready', settle);
  client.on('close', settle);
  const timer = setInterval(() => {
    if (isOwing) {
      isOwing = false;
      onSilent();
      client.disconnect(true);
    } else if (client.status === 'connect') {
      isOwing = true;
    } else if (client.status === 'ready' && mayBeAsked) {
      isOwing = true;
      // A broken connection settles it too.
      client.ping().then(settle, () => {});
    }
  }, silentMs).unref();
  return () => clearInterval(timer);
}
