import { SourceError } from '../../review/source.js';
import { codeOf } from '../../text/safe-error.js';

/**
 * Creates the error for something that a user's module threw. It keeps the original stack but not the original message,
 * which may quote a booking: errors are logged in many places. (Design 10.)
 */
export function createModuleError(message: string, thrown: unknown): SourceError {
  const error = new SourceError('unreadable', message);
  const frames = thrown instanceof Error ? listFrames(thrown) : [];
  if (frames.length > 0)
    error.stack = [`SourceError: ${message}`, ...frames.map((frame) => `    ${frame}`)].join('\n');
  return error;
}

/** The parts of a foreign error that are safe to show: its class, its code and where it was thrown. */
interface ErrorName {
  /** The class. */
  readonly name: string;
  readonly code: string | undefined;
  /** `TypeError ECONNRESET at readPage (/srv/bookings.mjs:12:9)` */
  readonly words: string;
}

export function nameError(error: unknown): ErrorName {
  if (!(error instanceof Error))
    return { name: typeof error, code: undefined, words: `a ${typeof error} that is not an Error` };
  const written = codeOf(error);
  const code = written !== undefined && /^\w+$/.test(written) ? written : undefined;
  // An error's name can be any text.
  const name = /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  const frames = listFrames(error);
  const frame = frames.find((one) => !/node:|<anonymous>|node_modules/.test(one)) ?? frames[0];
  return { name, code, words: [name, code, frame].filter((word) => word !== undefined).join(' ') };
}

/** The frames of an error's stack, without its message, which may quote a booking. */
function listFrames(error: Error): readonly string[] {
  return (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
}

/** A chain of causes may be circular. */
const causesShown = 5;

/**
 * Describes an error of a user's module with its stack. Its message may quote a booking, so it is shown, together with its
 * causes, only on request. (Design 10.)
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
  const text = showsMessage ? `${called}: ${error.message}` : `${called} (--stack-trace shows its message)`;
  return [text, ...listFrames(error).map((frame) => `    ${frame}`)].join('\n');
}
