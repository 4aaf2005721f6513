import { isIPv6 } from 'node:net';

/** Makes callers that send wrong credentials wait: by their address, or by the name they give. */
export interface BackOff {
  /** For how many more seconds requests of a caller are refused; 0 if they are not. */
  findWait(caller: string): number;
  recordFailure(caller: string): void;
  recordSuccess(caller: string): void;
}

interface Failures {
  readonly count: number;
  /** Both in epoch milliseconds. */
  readonly lastAt: number;
  readonly until: number;
}

/** A misconfigured caller tries a few times before anyone notices. */
const freeFailures = 5;
const firstWaitMs = 1_000;
/** Short, because a caller with the right secret may share the address, for example behind a proxy. */
const longestWaitMs = 60_000;
const forgottenMs = 15 * 60_000;
const maxCallers = 10_000;

/**
 * After five consecutive failures each further one doubles the wait, from a second up to a minute.
 *
 * @param groupOf what counts as one caller
 */
export function createBackOff(clock: () => number, groupOf = networkOf): BackOff {
  // In the order of their last failure.
  const failed = new Map<string, Failures>();

  function find(group: string): Failures | undefined {
    const failures = failed.get(group);
    return failures && Math.abs(clock() - failures.lastAt) < forgottenMs ? failures : undefined;
  }

  return {
    findWait(caller) {
      const { until = 0 } = find(groupOf(caller)) ?? {};
      return Math.ceil(Math.min(Math.max(0, until - clock()), longestWaitMs) / 1_000);
    },
    recordFailure(caller) {
      const group = groupOf(caller);
      const now = clock();
      const count = (find(group)?.count ?? 0) + 1;
      const waitMs =
        count < freeFailures ? 0 : Math.min(firstWaitMs * 2 ** (count - freeFailures), longestWaitMs);
      failed.delete(group);
      failed.set(group, { count, lastAt: now, until: now + waitMs });
      const [oldest] = failed.keys();
      if (failed.size > maxCallers && oldest !== undefined) failed.delete(oldest);
    },
    recordSuccess(caller) {
      failed.delete(groupOf(caller));
    },
  };
}

/** Whoever has one IPv6 address usually has the whole /64. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address.replace(/^::ffff:/i, '');
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const start = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0');
  return [...start, ...(tail === undefined ? [] : zeros), ...end].slice(0, 4).join(':');
}
