import { ArchiveError } from '../../archive/archive.js';
import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';
import type { StepOutcome } from '../delivery.js';

/** Works in a session of its own, and says what its troubles mean for the step. */
export async function inSession(
  sftp: SftpServer,
  signal: AbortSignal,
  work: (session: SftpSession) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  return explained(async () => {
    const session = await sftp.connect({ signal });
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  });
}

/** The troubles of SFTP server, archive and local disk as outcomes; any other error comes through. */
export async function explained(work: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await work();
  } catch (error) {
    const outcome = toOutcome(error);
    if (outcome) return outcome;
    throw error;
  }
}

function toOutcome(error: unknown): StepOutcome | undefined {
  if (error instanceof SftpError) {
    const { kind, code, message } = error;
    switch (kind) {
      case 'retryable':
        return retryable(`sftp-${code}`, message);
      case 'denied':
        return { kind: 'refused', evidence: { code: `sftp-${code}`, answer: message } };
      case 'fatal':
        return { kind: 'fatal', evidence: { code: `sftp-${code}`, answer: message }, advice: message };
    }
  }
  if (error instanceof ArchiveError) {
    const { code, message } = error;
    return code === 'unwritable' || code === 'unreadable'
      ? retryable(`archive-${code}`, message)
      : { kind: 'refused', evidence: { code: `archive-${code}`, answer: message } };
  }
  // The system's own words name call and path, and nothing of what a file holds.
  if (error instanceof Error && 'syscall' in error && 'code' in error)
    return retryable(`local-${String(error.code).toLowerCase()}`, error.message);
  return undefined;
}

function retryable(code: string, answer: string): StepOutcome {
  return {
    kind: 'retryable',
    evidence: { code, answer },
    outcomeUnknown: false,
    refusedWhenSpent: false,
  };
}
