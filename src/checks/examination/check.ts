import { pause, startTimeLimit, untilAborted } from '../../base/abort.js';
import { describeError } from '../../base/safe-error.js';
import { type Finding, findingsOf, type Part } from './finding.js';

interface Look {
  readonly part: Part;
  /** How long it may take before it is stopped. */
  readonly seconds: number;
  look(signal: AbortSignal): Promise<readonly Finding[]>;
}

/** How long a stopped check may take to clean up before it is abandoned. */
const graceMs = 3_000;

/**
 * Looks at a part in bounded time. What the part's adapter throws is a finding, too.
 *
 * @throws the signal's reason if it aborts
 */
export async function lookOnce(
  { part, seconds, look }: Look,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { wrong } = findingsOf(part);
  const limit = startTimeLimit(signal, seconds * 1000);
  const ended = new AbortController();
  const abandoned = untilAborted(limit.signal, ended.signal).then(() => pause(graceMs, ended.signal));
  try {
    const findings = await Promise.race([look(limit.signal), abandoned]);
    signal.throwIfAborted();
    if (findings) return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.isOver()) return [wrong(describeError(error))];
  } finally {
    limit.stop();
    ended.abort();
  }
  return [wrong(`was not done within ${seconds} s`, 'Something does not respond. Try again later.')];
}
