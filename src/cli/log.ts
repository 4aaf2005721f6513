import pino from 'pino';
import type { LogLevel } from './log-level.js';

export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/** Writes JSON lines. Whoever logs sees to it that no guest data and no secret is in them. */
export function createLog(level: LogLevel, stream: NodeJS.WritableStream): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    stream as pino.DestinationStream,
  );
}
