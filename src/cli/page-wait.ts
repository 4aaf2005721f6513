import type { PageWait } from '../sources/http/page-calls.js';
import { formatDuration } from '../text/format.js';

/** A shorter one is over before anybody wonders. */
const worthTellingMs = 2_000;

/** What is told of a wait for an API; undefined where nothing is. */
export function describePageWait({ code, delayMs }: PageWait): string | undefined {
  if (delayMs < worthTellingMs) return undefined;
  return `source: the API gave no page (${code}); it is asked again in ${formatDuration(delayMs)}`;
}
