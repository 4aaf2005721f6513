import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { nameReason } from '../common/errors.js';
import type { ResultFault } from '../common/faults.js';
import { publishGrowing, publishHalf, publishWhole } from '../common/publish-file.js';
import type { Outbox } from '../outbox/outbox.js';
import type { ReviewPath } from './file-review.js';
import type { Findings } from './reviewed-file.js';

/** What becomes of a file that was taken. Paths are those of the SFTP server's clients; no guest is named. */
export type FileReviewEvent =
  | {
      readonly kind: 'result-written';
      /** `VerifyMappings/112026/20112026_Result.csv` */
      readonly path: string;
      /** Records of the file. */
      readonly rows: number;
      /** How many of those are mapped incorrectly. */
      readonly incorrect: number;
      /** The e-mail's path on this disk, where one was due. */
      readonly email?: string;
    }
  /** By a fault: only the first so many records were written, and the others never are. */
  | {
      readonly kind: 'result-partial';
      readonly path: string;
      readonly rows: number;
      readonly written: number;
      readonly incorrect: number;
      readonly email?: string;
    }
  /** By a fault: neither a result nor an e-mail. */
  | { readonly kind: 'result-missing'; readonly path: string; readonly rows: number }
  /** The sandbox was closed before; a growing result is left as far as it had got. */
  | { readonly kind: 'result-given-up'; readonly path: string }
  /** The disk refused it, with the error's code: is the folder still there? */
  | { readonly kind: 'result-failed'; readonly path: string; readonly reason: string }
  /** The result is written, and the outbox refused the e-mail. */
  | { readonly kind: 'email-failed'; readonly path: string; readonly reason: string };

/** A file that was taken, and whose result is due. */
export interface TakenFile {
  readonly path: ReviewPath;
  /** The whole result; it is gone when this one is done. */
  readonly draft: string;
  readonly findings: Findings;
  readonly fault: ResultFault | undefined;
}

/** The results, and their e-mails, that are still to come. */
export interface DueResults {
  /** Writes the result after the delay, and after the results of the same file that were promised before. */
  promise(file: TakenFile): void;
  /** Gives up what is due later, and waits for what is being written. */
  close(): Promise<void>;
}

export interface DueResultsOptions {
  readonly delayMs: number;
  readonly outbox: Outbox;
  readonly onEvent: (event: FileReviewEvent) => void;
}

export function createDueResults({ delayMs, outbox, onEvent }: DueResultsOptions): DueResults {
  const closing = new AbortController();
  const { signal } = closing;
  /** The last one of each file. */
  const due = new Map<string, Promise<void>>();

  async function perform(file: TakenFile, earlier: Promise<void> | undefined): Promise<void> {
    const { path, draft, fault } = file;
    try {
      const lateMs = fault?.kind === 'result-late' ? fault.seconds * 1_000 : 0;
      await wait(delayMs + lateMs, undefined, { signal });
      await earlier;
      signal.throwIfAborted();
      await publish(file);
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') {
        onEvent({ kind: 'result-given-up', path: path.resultName });
      } else {
        onEvent({ kind: 'result-failed', path: path.resultName, reason: nameReason(error) });
      }
    } finally {
      await rm(draft, { force: true });
      // Also when this one is given up: `close` knows the last one of each file only.
      await earlier;
    }
  }

  async function publish({ path, draft, findings, fault }: TakenFile): Promise<void> {
    const { rows, incorrectRows: incorrect } = findings;
    const told = { path: path.resultName, rows, incorrect };
    switch (fault?.kind) {
      case undefined:
      case 'result-late':
        await publishWhole(draft, path.result);
        return onEvent({ kind: 'result-written', ...told, ...(await notify(path, findings)) });
      case 'result-growing':
        await publishGrowing(draft, path.result, fault.seconds, signal);
        return onEvent({ kind: 'result-written', ...told, ...(await notify(path, findings)) });
      case 'result-partial': {
        const written = await publishHalf(draft, path.result, rows);
        return onEvent({ kind: 'result-partial', ...told, written, ...(await notify(path, findings)) });
      }
      case 'result-missing':
        return onEvent({ kind: 'result-missing', path: path.resultName, rows });
    }
  }

  async function notify(
    { inputName, resultName }: ReviewPath,
    { incorrect, incorrectRows }: Findings,
  ): Promise<{ readonly email?: string }> {
    if (incorrectRows === 0) return {};
    try {
      const email = await outbox.notify({ about: inputName, incorrect, count: incorrectRows });
      return { email: email.path };
    } catch (error) {
      onEvent({ kind: 'email-failed', path: resultName, reason: nameReason(error) });
      return {};
    }
  }

  return {
    promise(file) {
      const { result } = file.path;
      const performed = perform(file, due.get(result)).finally(() => {
        if (due.get(result) === performed) due.delete(result);
      });
      due.set(result, performed);
    },
    async close() {
      closing.abort();
      await Promise.all(due.values());
    },
  };
}
