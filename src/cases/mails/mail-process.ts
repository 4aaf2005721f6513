import type { ChildProcess } from 'node:child_process';
import type { UnreadReason } from '../../ledger/mails.js';
import { type ExaminedMail, type KnownThings, openMail } from './examine-mail.js';
import type { VerdictWords } from './headings.js';
import { converse, LimitedProcessError, type ProcessLimits } from './limited-process.js';
import { maxMailBytes, megabyte } from './mail-bytes.js';
import { UnreadMailError } from './records.js';

/** How much an e-mail may take of the process that reads it. */
export const readerLimits: ProcessLimits = {
  heapBytes: 512 * megabyte,
  processBytes: 768 * megabyte,
  processorMs: 10_000,
};

/** Several e-mails in sequence share a process; then its memory is worth more. */
const idleMs = 10_000;
const attempts = 2;

/** An e-mail, and then what is known about it. */
type Order = { readonly bytes: Uint8Array; readonly words: VerdictWords } | { readonly known: KnownThings };

/** What may be references, an e-mail that was examined, or why it could not be read. */
interface Answer {
  readonly hashes?: Uint32Array;
  readonly mail?: ExaminedMail | undefined;
  readonly reason?: UnreadReason;
}

/** @param hashes of everything that may be a reference, in ascending order */
export type LookUp = (hashes: Uint32Array) => Promise<KnownThings>;

/** Finds what an e-mail names among what is known. @throws UnreadMailError */
export type ExamineMail = (bytes: Buffer, lookUp: LookUp) => Promise<ExaminedMail>;

/** @param start starts a limited process that performs the orders of `openMailReader` */
export function createMailProcess(words: VerdictWords, start: () => ChildProcess) {
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  /** Ends the process. Another e-mail would start one. */
  function close(): void {
    clearTimeout(idle);
    child?.kill('SIGKILL');
    child = undefined;
  }

  /** @throws what `lookUp` throws, or why the process can't be started: neither is the e-mail's fault */
  async function ask(bytes: Buffer, lookUp: LookUp): Promise<Answer> {
    clearTimeout(idle);
    try {
      child ??= start();
      let answer = await converse<Answer>(child, { bytes, words });
      if (answer.hashes) answer = await converse<Answer>(child, { known: await lookUp(answer.hashes) });
      // Nothing waits for it.
      idle = setTimeout(close, idleMs).unref();
      return answer;
    } catch (error) {
      close();
      if (error instanceof LimitedProcessError) return { reason: error.fault };
      throw error;
    }
  }

  const examine: ExamineMail = async (bytes, lookUp) => {
    if (bytes.length > maxMailBytes) throw new UnreadMailError('too-large');
    for (let tried = 1; ; tried += 1) {
      const { mail, reason = 'failed' } = await ask(bytes, lookUp);
      if (mail) return mail;
      const error = new UnreadMailError(reason);
      if (!error.isFault || tried === attempts) throw error;
      close();
    }
  };
  return { examine, close };
}

/** The process's end. Performs one order after the other. */
export function openMailReader(): (order: Order) => Promise<Answer> {
  let match: Awaited<ReturnType<typeof openMail>>['match'] | undefined;
  return async (order) => {
    try {
      if ('known' in order) return { mail: match?.(order.known) };
      const { buffer, byteOffset, byteLength } = order.bytes;
      const opened = await openMail(Buffer.from(buffer, byteOffset, byteLength), order.words);
      match = opened.match;
      return { hashes: opened.hashes };
    } catch (error) {
      // What the error says may quote the e-mail.
      return { reason: error instanceof UnreadMailError ? error.reason : 'failed' };
    }
  };
}
