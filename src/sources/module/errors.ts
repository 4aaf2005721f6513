import { SourceError } from '../../review/source.js';

/**
 * The error for what a user's module threw. It has that one's stack, and nothing else of it: its message may quote a
 * booking, and errors are written down in many places. (Design 10.)
 */
export function createModuleError(message: string, thrown: unknown): SourceError {
  const error = new SourceError('unreadable', message);
  const frames = thrown instanceof Error ? listFrames(thrown) : [];
  if (frames.length > 0)
    error.stack = [`SourceError: ${message}`, ...frames.map((frame) => `    ${frame}`)].join('\n');
  return error;
}

/** What of an error of somebody else's code can be told to anybody: its class, its code and where it came from. */
export interface ErrorName {
  /** The class. */
  readonly name: string;
  readonly code: string | undefined;
  /** `TypeError ECONNRESET at readPage (/srv/bookings.mjs:12:9)` */
  readonly words: string;
}

export function nameError(error: unknown): ErrorName {
  if (!(error instanceof Error))
    return { name: typeof error, code: undefined, words: `a ${typeof error} that is no Error` };
  const code =
    'code' in error && typeof error.code === 'string' && /^\w+$/.test(error.code) ? error.code : undefined;
  // Anybody can call an error anything.
  const name = /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  const frames = listFrames(error);
  const frame = frames.find((one) => !/node:|<anonymous>|node_modules/.test(one)) ?? frames[0];
  return { name, code, words: [name, code, frame].filter((word) => word !== undefined).join(' ') };
}

/** The frames of an error's stack, without its message, which might quote a booking. */
export function listFrames(error: Error): readonly string[] {
  return (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
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
