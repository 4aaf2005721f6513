import type pino from 'pino';
import { print } from '../text/visible.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof logLevels)[number];

export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>;

/** Used if no log was requested. */
export const silentLog: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Writes JSON lines. Callers must keep guest data and secrets out of them. */
export async function openLog(level: LogLevel, stream: NodeJS.WritableStream): Promise<Log> {
  // Loaded on demand: most commands write no log.
  const { default: pino } = await import('pino');
  const log: Log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void print(stream, line) },
  );
  return log;
}
