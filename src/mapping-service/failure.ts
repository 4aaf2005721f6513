import { readNetworkFailure } from '../http/network-failure.js';
import type { Verdict } from './mapping-service.js';

/**
 * What a failure of the network means for the runner: any value that a call may throw, errors nested in `cause` and in
 * an AggregateError included. Pure; `answer` is never set, because errors quote what they choke on.
 *
 * @param requestWasSent whether a byte of the request may have left; where unknown, the kind of failure decides
 */
export function judgeFailure(error: unknown, known: { readonly requestWasSent?: boolean } = {}): Verdict {
  const { code, meaning } = readNetworkFailure(error);
  if (meaning === 'wrong') return { kind: 'fatal', code };
  const outcomeUnknown = known.requestWasSent ?? meaning === 'broken';
  return { kind: 'retryable', code, outcomeUnknown, refusedWhenSpent: false };
}
