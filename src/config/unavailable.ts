import type { Problem } from './problems.js';
import type { Config } from './resolve.js';

/** Settings that are understood and whose part is not built yet. */
export function findUnavailable(
  config: Pick<Config, 'delivery' | 'ledger' | 'queue' | 'archive'>,
): Problem[] {
  const { delivery, ledger, queue, archive } = config;
  const wanted: readonly (false | readonly [path: string, form: string])[] = [
    delivery === 'file' && ['delivery', 'file'],
    ledger.kind === 'postgres' && ['ledger', 'postgres://'],
    queue.kind === 'redis' && ['queue', 'redis://'],
    archive.kind === 's3' && ['archive', 's3://'],
  ];
  return wanted
    .filter((part) => part !== false)
    .map(([path, form]) => ({ path, message: `${form} is not available in this version` }));
}
