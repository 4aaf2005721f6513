import { copyFile, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { nameReason } from '../common/errors.js';
import type { ResultFault } from '../common/faults.js';
import { publishGrowing, publishHalf, publishTranslated, publishWhole } from '../common/publish-file.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Findings } from './reviewed-file.js';

/** What becomes of an accepted file. Paths are as SFTP clients see them; no guest is named. */
export type FileReviewEvent =
  | {
      readonly kind: 'result-written';
      /** `VerifyMappings/112026/20112026_Result.csv` */
      readonly path: string;
      /** Records of the file. */
      readonly rows: number;
      /** Records with an incorrect mapping. */
      readonly incorrect: number;
      /** The e-mail's path on this disk, where one was due. */
      readonly email?: string;
    }
  /** By a fault: only the first records were written. */
  | {
      readonly kind: 'result-partial';
      readonly path: string;
      readonly rows: number;
      readonly written: number;
      readonly incorrect: number;
      readonly email?: string;
    }
  /** By a fault: a result that had been written was written once more. */
  | { readonly kind: 'result-rewritten'; readonly path: string; readonly rows: number }
  /** By a fault: neither a result nor an e-mail. */
  | { readonly kind: 'result-missing'; readonly path: string; readonly rows: number }
  /** The sandbox was closed first; a growing result keeps what had been written. */
  | { readonly kind: 'result-given-up'; readonly path: string }
  /** Writing to disk failed; `reason` is the error's code. */
  | { readonly kind: 'result-failed'; readonly path: string; readonly reason: string }
  /** The result is written, but the e-mail could not be. */
  | { readonly kind: 'email-failed'; readonly path: string; readonly reason: string };

/** A review file, and where its result belongs. */
export interface ReviewPath {
  readonly kind: 'found';
  /** On this disk. */
  readonly input: string;
  readonly result: string;
  /** As SFTP clients name them, without a leading slash. */
  readonly inputName: string;
  readonly resultName: string;
}

/** An accepted file whose result is due. */
interface AcceptedFile {
  readonly path: ReviewPath;
  /** The complete result. It is removed or moved away in the end. */
  readonly draft: string;
  readonly findings: Findings;
  readonly fault: ResultFault | undefined;
}

interface PendingResultsOptions {
  readonly delayMs: number;
  readonly outbox: Outbox;
  readonly onEvent: (event: FileReviewEvent) => void;
}

/** For the header and the cells of the verdict's column. */
function sayInOtherWords(cell: string): string {
  switch (cell) {
    case 'True':
      return 'Correct';
    case 'False':
      return 'Incorrect';
    default:
      return 'MappingStatus';
  }
}

/** Results, and the e-mails about them, that are still to be written. */
export function createPendingResults({ delayMs, outbox, onEvent }: PendingResultsOptions) {
  const closing = new AbortController();
  const { signal } = closing;
  /** The last result of each file. */
  const pending = new Map<string, Promise<void>>();

  async function perform(file: AcceptedFile, earlier: Promise<void> | undefined): Promise<void> {
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
      // `close` waits only for the last result of each file, so that one has to wait for its predecessors.
      await earlier;
    }
  }

  async function publish({ path, draft, findings, fault }: AcceptedFile): Promise<void> {
    const { rows, incorrectRows: incorrect } = findings;
    const details = { path: path.resultName, rows, incorrect };
    switch (fault?.kind) {
      case undefined:
      case 'result-late':
        await publishWhole(draft, path.result);
        return onEvent({ kind: 'result-written', ...details, ...(await notify(path, findings)) });
      case 'result-growing':
        await publishGrowing(draft, path.result, fault.seconds, signal);
        return onEvent({ kind: 'result-written', ...details, ...(await notify(path, findings)) });
      case 'result-partial': {
        const written = await publishHalf(draft, path.result, rows);
        return onEvent({ kind: 'result-partial', ...details, written, ...(await notify(path, findings)) });
      }
      case 'result-twice': {
        const first = `${draft}.first`;
        await copyFile(draft, first);
        await publishWhole(first, path.result);
        onEvent({ kind: 'result-written', ...details, ...(await notify(path, findings)) });
        await wait(fault.seconds * 1_000, undefined, { signal });
        await publishGrowing(draft, path.result, fault.seconds, signal);
        return onEvent({ kind: 'result-rewritten', path: path.resultName, rows });
      }
      case 'result-worded':
        await publishTranslated(draft, path.result, sayInOtherWords);
        return onEvent({ kind: 'result-written', ...details, ...(await notify(path, findings)) });
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
      return { email: await outbox.notify({ about: inputName, incorrect, count: incorrectRows }) };
    } catch (error) {
      onEvent({ kind: 'email-failed', path: resultName, reason: nameReason(error) });
      return {};
    }
  }

  return {
    /** Writes the result after the delay, and after earlier results of the same file. */
    schedule(file: AcceptedFile): void {
      const { result } = file.path;
      const performed = perform(file, pending.get(result)).finally(() => {
        if (pending.get(result) === performed) pending.delete(result);
      });
      pending.set(result, performed);
    },
    /** Abandons what is not due yet, and waits for what is being written. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(pending.values());
    },
  };
}
