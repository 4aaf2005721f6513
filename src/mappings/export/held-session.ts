import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';
import type { NotifyExport } from './export-event.js';

export interface SessionParts {
  readonly sftp: SftpServer;
  /** How long to wait after so many failures in a row, in milliseconds; undefined where that is enough. */
  readonly backOff: (failures: number) => number | undefined;
  /** Resolves early when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly notify: NotifyExport;
}

/** @param progressed to be called when something was gained: failures before it count no more */
type SessionAction<Result> = (session: SftpSession, progressed: () => void) => Promise<Result>;

/**
 * Does something in a session of its own, and once more in another one where the server failed.
 *
 * @throws SftpError when the server failed too often in a row, or is not to be asked again; the signal's reason
 */
export async function useSession<Result>(
  { sftp, backOff, pause, notify }: SessionParts,
  signal: AbortSignal,
  action: SessionAction<Result>,
): Promise<Result> {
  let failures = 0;
  const progressed = () => {
    failures = 0;
  };
  for (;;) {
    try {
      const session = await sftp.connect({ signal });
      try {
        return await action(session, progressed);
      } finally {
        await session.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SftpError && error.kind === 'retryable')) throw error;
      failures += 1;
      const delayMs = backOff(failures);
      if (delayMs === undefined) throw error;
      notify({ type: 'held-off', reason: error.message, delayMs });
      await pause(delayMs, signal);
      signal.throwIfAborted();
    }
  }
}
