import { describeError } from '../../base/safe-error.js';
import { type Finding, findingsOf, type Part } from './finding.js';

/** One check of one part. */
export interface Check {
  readonly part: Part;
  /** How long it may take before it is stopped. */
  readonly seconds: number;
  look(signal: AbortSignal): Promise<readonly Finding[]>;
}

/** How long a stopped check may take to clean up before it is abandoned. */
const graceMs = 3_000;

interface LookOptions {
  readonly signal: AbortSignal;
  /** Called when a check does not stop and is abandoned. */
  readonly onAbandoned: () => void;
}

/**
 * Runs a check in bounded time. If the check itself fails, that is a finding, too.
 *
 * @throws the signal's reason if it aborts
 */
export async function lookOnce(
  { part, seconds, look }: Check,
  { signal, onAbandoned }: LookOptions,
): Promise<readonly Finding[]> {
  const { wrong } = findingsOf(part);
  const stopping = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  let giveUp = () => {};
  const abandoned = new Promise<'abandoned'>((resolve) => {
    giveUp = () => resolve('abandoned');
  });
  const stop = (reason: unknown) => {
    if (stopping.signal.aborted) return;
    grace = setTimeout(giveUp, graceMs);
    stopping.abort(reason);
  };
  const onAbort = () => stop(signal.reason);
  const late = setTimeout(
    () => stop(new DOMException('the check took too long', 'TimeoutError')),
    seconds * 1000,
  );
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const findings = await Promise.race([look(stopping.signal), abandoned]);
    if (findings === 'abandoned') onAbandoned();
    signal.throwIfAborted();
    if (findings !== 'abandoned') return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (!stopping.signal.aborted) return [wrong(describeError(error))];
  } finally {
    clearTimeout(late);
    clearTimeout(grace);
    signal.removeEventListener('abort', onAbort);
  }
  return [wrong(`was not done within ${seconds} s`, 'Something does not respond. Try again later.')];
}

/**
 * Runs all checks, whatever the others find. The checks of a group run concurrently, the groups one after the other.
 * Findings are reported in order, as soon as they are known.
 *
 * @throws the signal's reason if it aborts, once all started checks have ended or were abandoned
 */
export async function examineAll(
  groups: readonly (readonly Check[])[],
  options: LookOptions & { readonly tell: (finding: Finding) => void },
): Promise<readonly Finding[]> {
  const { signal, tell } = options;
  const found: Finding[] = [];
  for (const group of groups) {
    signal.throwIfAborted();
    const looks = group.map((check) => lookOnce(check, options));
    const ended = Promise.allSettled(looks);
    try {
      for (const look of looks) {
        for (const finding of await look) {
          tell(finding);
          found.push(finding);
        }
      }
    } finally {
      await ended;
    }
  }
  return found;
}
