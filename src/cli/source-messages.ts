import type { PageWait } from '../sources/http/page-calls.js';
import { listFrames, nameError } from '../sources/module/errors.js';
import { formatDuration } from '../text/format.js';

/** A shorter one is over before anybody wonders. */
const worthTellingMs = 2_000;

/** What is told of a wait for an API; undefined where nothing is. */
export function describePageWait({ code, delayMs }: PageWait): string | undefined {
  if (delayMs < worthTellingMs) return undefined;
  return `source: the API returned no page (${code}); retrying in ${formatDuration(delayMs)}`;
}

/** A cause has a cause; at last one may be its own. */
const causesShown = 5;

/**
 * An error of a user's own module with its own stack. Its message may quote a booking: it is shown only to who asked for
 * that, and then with its causes. (Design 10.)
 */
export function describeModuleFailure(
  error: unknown,
  { path, showsMessage }: { readonly path: string; readonly showsMessage: boolean },
): string {
  const lines = [`${path} threw ${describe(error, showsMessage)}`];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let shown = 0; showsMessage && cause !== undefined && shown < causesShown; shown += 1) {
    lines.push(`  caused by ${describe(cause, showsMessage)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n');
}

function describe(error: unknown, showsMessage: boolean): string {
  if (!(error instanceof Error)) return nameError(error).words;
  const { name, code } = nameError(error);
  const called = [name, code].filter((word) => word !== undefined).join(' ');
  const told = showsMessage ? `${called}: ${error.message}` : `${called} (--stack-trace shows its message)`;
  return [told, ...listFrames(error).map((frame) => `    ${frame}`)].join('\n');
}
