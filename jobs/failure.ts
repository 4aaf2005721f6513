import { describeError, isSafeToShow, StoppedError, UsageError } from '../src/base/safe-error.js';
import { ConfigurationError } from '../src/config/problems.js';
import { FencedError, isLedgerFault, LedgerUnusableError, SyncOvertakenError } from '../src/ledger/errors.js';
import { LoadBusyError, LoadOvertakenError } from '../src/ledger/hotels.js';
import { SyncBusyError } from '../src/mappings/sync-mappings.js';
import { ArchiveAwayError } from '../src/review/archive-fit.js';
import { DayBusyError } from '../src/review/day/join-run.js';
import { MappingServiceError, type ServiceErrorKind } from '../src/service/errors.js';
import { UsersFileError } from '../src/storage/access/users-file.js';
import { KeyError } from '../src/storage/day-keys.js';
import { type ExitCode, exitCode } from './exit-code.js';

export interface CommandFailure {
  readonly exitCode: ExitCode;
  readonly class: 'usage' | 'configuration' | 'busy' | 'stopped' | 'internal' | ServiceErrorKind;
  readonly message: string;
}

type Known = readonly [new (...given: never[]) => Error, ExitCode, CommandFailure['class']];
const of = (code: ExitCode, kind: CommandFailure['class'], ...errors: Known[0][]) =>
  errors.map((error): Known => [error, code, kind]);

const known: readonly Known[] = [
  ...of(exitCode.usage, 'configuration', ConfigurationError, LedgerUnusableError, UsersFileError),
  ...of(exitCode.usage, 'usage', UsageError),
  // Another process is at work.
  ...of(exitCode.busy, 'busy', DayBusyError, FencedError, SyncBusyError, SyncOvertakenError),
  ...of(exitCode.busy, 'busy', LoadBusyError, LoadOvertakenError),
  ...of(exitCode.failed, 'retryable', ArchiveAwayError),
  // A stopped run reports itself; this is for work that leaves nothing to resume.
  ...of(exitCode.failed, 'stopped', StoppedError),
];

/** What an error means for the caller, with a message that is safe to show. */
export function describeFailure(error: unknown): CommandFailure {
  if (error instanceof MappingServiceError)
    return { exitCode: exitCode.failed, class: error.kind, message: error.message };
  if (error instanceof KeyError && error.code === 'unusable')
    return { exitCode: exitCode.usage, class: 'configuration', message: error.message };
  const [, code = exitCode.failed, kind = 'internal'] = known.find(([one]) => error instanceof one) ?? [];
  const message = kind === 'internal' ? describeUnexpected(error) : describeError(error);
  return { exitCode: code, class: kind, message };
}

/** Whether this ended a review, although it was not asked for in a wrong way, nor stopped or taken over. */
export function breaksOff(error: unknown): boolean {
  const { class: kind } = describeFailure(error);
  return isLedgerFault(error) || !['usage', 'configuration', 'busy', 'stopped'].includes(kind);
}

function describeUnexpected(error: unknown): string {
  const isWithheld = error instanceof Error && !isSafeToShow(error);
  return `${describeError(error)}${isWithheld ? '; run it again with --stack-trace to see where' : ''}`;
}

/** Only the frames of a stack: the message above them might quote a booking. */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error)) return '';
  // A message of several lines may contain one that looks like a frame.
  return (error.stack ?? '')
    .replace(error.message, () => '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .join('\n');
}
