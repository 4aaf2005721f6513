import { LedgerUnusableError } from '../ledger/ledger.js';
import { UsageError } from '../review/run-day.js';
import { SftpError } from '../sftp/sftp.js';
import { SourceError } from '../sources/source.js';
import { type Finding, findingsOf, type Part } from './finding.js';

/** One look at one part. */
export interface Check {
  readonly part: Part;
  /** How long it may take; then it is told to stop. */
  readonly seconds: number;
  look(signal: AbortSignal): Promise<readonly Finding[]>;
}

/** How long a check that was told to stop may take to clean up; then nobody waits for it any more. */
const graceMs = 3_000;

/**
 * Looks once, in bounded time. A check that fails is a finding like any other.
 *
 * @throws the signal's reason when it aborted
 */
export async function lookOnce(
  { part, seconds, look }: Check,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { wrong } = findingsOf(part);
  const stopping = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  let giveUp = () => {};
  const abandoned = new Promise<'abandoned'>((resolve) => {
    giveUp = () => resolve('abandoned');
  });
  const stop = (reason: unknown) => {
    if (stopping.signal.aborted) return;
    grace = setTimeout(giveUp, graceMs);
    stopping.abort(reason);
  };
  const onAbort = () => stop(signal.reason);
  const late = setTimeout(
    () => stop(new DOMException('the check took too long', 'TimeoutError')),
    seconds * 1000,
  );
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const findings = await Promise.race([look(stopping.signal), abandoned]);
    signal.throwIfAborted();
    if (findings !== 'abandoned') return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (!stopping.signal.aborted) return [wrong(explain(error))];
  } finally {
    clearTimeout(late);
    clearTimeout(grace);
    signal.removeEventListener('abort', onAbort);
  }
  return [wrong(`was not done within ${seconds} s`, 'Something does not answer; look again later.')];
}

/** What an error says, as far as that is safe: the messages of others may quote what they choked on. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'unexpected error';
  const isOwn = [LedgerUnusableError, SftpError, SourceError, UsageError].some((own) => error instanceof own);
  // System and database errors name paths and codes.
  const isTold = 'syscall' in error || error.name === 'SqliteError' || error.name === 'DatabaseBusyError';
  if (isOwn || isTold) return error.message;
  return `unexpected ${error.name}${'code' in error && typeof error.code === 'string' ? ` ${error.code}` : ''}`;
}
