import { ArchiveError } from '../archive/archive.js';
import { StoppedError } from '../cli/stopped-error.js';
import { ConfigurationError } from '../config/problems.js';
import { MappingServiceError } from '../mapping-service/service-error.js';
import { ExportFileError } from '../mappings/export/export-file-error.js';
import { SyncOvertakenError } from '../mappings/mapping-copy.js';
import { SyncBusyError } from '../mappings/sync-busy-error.js';
import { FencedError, LedgerAwayError, LedgerFullError, LedgerUnusableError } from '../review/ledger.js';
import { QueueAwayError } from '../review/queue.js';
import { DayBusyError, UsageError } from '../review/refusals.js';
import { SourceError } from '../review/source.js';
import { SftpError } from '../sftp/sftp.js';

const own = [
  ArchiveError,
  ConfigurationError,
  DayBusyError,
  ExportFileError,
  FencedError,
  LedgerAwayError,
  LedgerFullError,
  LedgerUnusableError,
  MappingServiceError,
  QueueAwayError,
  SftpError,
  SourceError,
  StoppedError,
  SyncBusyError,
  SyncOvertakenError,
  UsageError,
];

/** Whether an error's words may be shown: any message of others might quote what it choked on. */
export function isSafeToShow(error: Error): boolean {
  // System and database errors name paths and codes.
  const isTold = 'syscall' in error || error.name === 'SqliteError' || error.name === 'DatabaseBusyError';
  return isTold || own.some((one) => error instanceof one);
}

/** What an error says, as far as that is safe to show; of others its name and code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unexpected error';
  if (isSafeToShow(error)) return error.message;
  return `unexpected ${error.name}${'code' in error && typeof error.code === 'string' ? ` ${error.code}` : ''}`;
}
