import type { RetryPolicy } from '../src/async/retry.js';
import type { Config } from '../src/config/load.js';

/** The configured retries: the same for calls of the service, SFTP and sources. */
export function openRetryPolicy({ retry }: Pick<Config, 'retry'>): RetryPolicy {
  return {
    tries: retry.tries,
    baseMs: retry.baseSeconds * 1000,
    capMs: retry.capSeconds * 1000,
    retryAfterCapMs: retry.retryAfterCapSeconds * 1000,
    waits: retry.waits,
  };
}
