import { SourceError } from '../../review/source.js';
import { listFrames } from './name-error.js';

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
