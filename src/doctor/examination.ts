import { type Check, type LookOptions, lookOnce } from './check.js';
import type { Finding } from './finding.js';

/**
 * Makes every check, whatever the others find. The checks of a group are made at the same time, one group after the
 * other; what is found is told in their order, as soon as it is known.
 *
 * @throws the signal's reason when it aborted, once all that was begun has ended or was abandoned
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
