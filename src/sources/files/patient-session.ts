import { setTimeout as wait } from 'node:timers/promises';
import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';

/** Asks an SFTP server for things that can be asked for again. */
export interface PatientSession {
  /** @throws SftpError after the last try; the signal's reason when it aborts */
  ask<Answer>(question: (session: SftpSession) => Promise<Answer>): Promise<Answer>;
  /** Never throws. */
  close(): Promise<void>;
}

const tries = 4;
const firstPauseMs = 250;

/** A session that is opened when something is asked, and once more, a few times, where its connection is lost. */
export function createPatientSession(server: SftpServer, signal: AbortSignal): PatientSession {
  let session: SftpSession | undefined;

  async function close(): Promise<void> {
    const open = session;
    session = undefined;
    await open?.close();
  }

  return {
    async ask(question) {
      for (let tried = 1; ; tried += 1) {
        try {
          session ??= await server.connect({ signal });
          return await question(session);
        } catch (error) {
          await close();
          signal.throwIfAborted();
          if (tried === tries || !isLost(error)) throw error;
        }
        await wait(firstPauseMs * 2 ** (tried - 1), undefined, { signal }).catch(() =>
          signal.throwIfAborted(),
        );
      }
    },
    close,
  };
}

function isLost(error: unknown): boolean {
  return (
    error instanceof SftpError &&
    error.kind === 'retryable' &&
    error.code !== 'no-such-file' &&
    error.code !== 'changed-while-reading'
  );
}
