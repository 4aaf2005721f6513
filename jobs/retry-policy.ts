import type { RetryPolicy } from '../src/async/retry.js';
import type { Config } from '../src/config/load.js';

/**
 * The configured retries: of steps, of calls of the service, of an export on its SFTP server and of HTTP sources. Files of a
 * source are read again by their adapters' own rules.
 */
export function openRetryPolicy({ retry }: Pick<Config, 'retry'>): RetryPolicy {
  return {
    tries: retry.tries,
    baseMs: retry.baseSeconds * 1000,
    capMs: retry.capSeconds * 1000,
    retryAfterCapMs: retry.retryAfterCapSeconds * 1000,
    waits: retry.waits,
  };
}
