import { SourceError } from '../../review/source.js';
import { createDatabaseFault, readErrorCode } from './database-fault.js';

/** The driver knows SQLite's plain codes alone; the finer ones have the plain one in their last byte. */
export function readSqliteCode(error: unknown): string | undefined {
  const code = readErrorCode(error);
  const number = Number(/^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code ?? '')?.[1]);
  return number % 256 === 1 ? 'SQLITE_ERROR' : code;
}

/** Says what a failure of the driver means. Of its words none is told. */
export function explainSqliteError(error: unknown, where: string): unknown {
  const code = readSqliteCode(error);
  if (error instanceof SourceError || !(error instanceof Error)) return error;
  if (code === undefined || code === '') return createDatabaseFault('unreachable', where, 'no code');
  if (/^SQLITE_(NOTADB|CANTOPEN|BUSY|LOCKED|READONLY)/.test(code)) {
    return createDatabaseFault('unreachable', where, code);
  }
  return createDatabaseFault(code === 'SQLITE_ERROR' ? 'failed' : 'lost', where, code);
}
