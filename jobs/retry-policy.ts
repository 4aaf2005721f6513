import type { RetryPolicy } from '../src/async/retry.js';
import type { Config } from '../src/config/load.js';
import { defaultRetryPolicy } from '../src/mapping-service/options.js';

/**
 * The configured retries: of steps, of calls of the service, of an export on its SFTP server and of HTTP sources. Adapters
 * reread the files of a source by rules of their own.
 */
export function openRetryPolicy({ retry }: Pick<Config, 'retry'>): RetryPolicy {
  return {
    ...defaultRetryPolicy,
    tries: retry.tries,
    baseMs: retry.baseSeconds * 1000,
    capMs: retry.capSeconds * 1000,
  };
}
