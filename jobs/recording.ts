import type { Action } from '../src/ledger/audit.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import type { Run } from '../src/ledger/run.js';
import type { ReviewCallbacks, RunRequest } from '../src/review/review-day.js';
import { describeError, SafeError } from '../src/text/safe-error.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';

interface Audited {
  readonly audit: ReadOnlyLedger['audit'];
}

/**
 * Records an action on guests' data in the audit trail before it is performed: nothing reveals or removes names without
 * a record.
 *
 * @throws NotRecordedError
 */
export async function recordAction(
  ledger: Audited,
  action: Action,
  { io }: Pick<Terminal, 'io'>,
): Promise<void> {
  try {
    await record(ledger, action, io.user);
  } catch (error) {
    throw new NotRecordedError(error);
  }
}

function record({ audit }: Audited, action: Action, who: string): Promise<void> {
  return audit.record({ ...action, at: clock(), who });
}

/**
 * Records a look at bookings without guests' names. Someone woken by a full disk must still be able to look, so a ledger
 * that can't be written to prevents nothing; the terminal then says that the record is missing.
 */
export function recordLook(ledger: Audited, action: Action, terminal: Terminal): Promise<void> {
  return recordOrWarn(ledger, action, terminal.io.user, terminal);
}

/** Records the run that a command opens, resumes or accepts, like a look. */
export function recordOpening(
  ledger: Audited,
  {
    trigger,
    reason,
    volumeAcceptedBy,
    acceptsRepeated,
  }: Omit<RunRequest, 'day' | 'mode' | 'configuredDelivery'>,
  terminal: Terminal,
): Required<Pick<ReviewCallbacks, 'onOpened' | 'onAccepted'>> & { readonly recorded: () => Promise<void> } {
  let recording = Promise.resolve();
  const action = trigger === 'replay' ? 'replay' : 'run';
  const record = ({ id, day }: Run, how: Action['details']) => {
    const details = {
      run: id,
      ...how,
      ...(volumeAcceptedBy !== undefined && { acceptVolume: true }),
      ...(acceptsRepeated && { acceptRepeated: true }),
      ...(reason !== undefined && { reason }),
    };
    recording = recordLook(ledger, { action, subject: day, details }, terminal);
  };
  return {
    onOpened: (run, isNew) => record(run, isNew ? {} : { resumed: true }),
    onAccepted: (run) => record(run, {}),
    recorded: () => recording,
  };
}

/** Records a run that `serve` started, on request or on schedule. */
export function recordStart(ledger: Audited, action: Action, terminal: Terminal): Promise<void> {
  return recordOrWarn(ledger, action, 'serve', terminal);
}

async function recordOrWarn(
  ledger: Audited,
  action: Action,
  who: string,
  { caution }: Terminal,
): Promise<void> {
  try {
    await record(ledger, action, who);
  } catch (error) {
    caution(`the audit trail can't record this: ${describeError(error)}`);
  }
}

/** The audit trail can't be written. */
class NotRecordedError extends SafeError {
  override readonly name = 'NotRecordedError';
  constructor(cause: unknown) {
    super(`refused, because the audit trail can't record it: ${describeError(cause)}`, { cause });
  }
}
