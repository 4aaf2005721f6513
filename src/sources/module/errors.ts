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
