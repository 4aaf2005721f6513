import type { ChildProcess } from 'node:child_process';
import type { UnreadReason } from '../../ledger/mails.js';
import { type ExaminedMail, examineMail, type KnownThings, type LookUp } from './examine-mail.js';
import type { VerdictWords } from './headings.js';
import {
  converse,
  LimitedProcessError,
  megabyte,
  type ProcessLimits,
  type Watch,
} from './limited-process.js';
import { maxMailBytes } from './mail-bytes.js';
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

type Order =
  | { readonly kind: 'mail'; readonly bytes: Uint8Array; readonly words: VerdictWords }
  | { readonly kind: 'known'; readonly known: KnownThings };

type LastAnswer =
  | { readonly kind: 'examined'; readonly mail: ExaminedMail }
  | { readonly kind: 'unread'; readonly reason: UnreadReason };

type Answer = LastAnswer | { readonly kind: 'look-up'; readonly hashes: Uint32Array };

/** Finds what an e-mail names among what is known. @throws UnreadMailError */
export type ExamineMail = (bytes: Buffer, lookUp: LookUp) => Promise<ExaminedMail>;

/** @param start starts a limited process that calls `answerMails` */
export function createMailProcess(words: VerdictWords, start: () => ChildProcess) {
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  /** Ends the process. Another e-mail would start one. */
  function close(): void {
    clearTimeout(idle);
    child?.kill('SIGKILL');
    child = undefined;
  }

  const examine: ExamineMail = async (bytes, lookUp) => {
    if (bytes.length > maxMailBytes) throw new UnreadMailError('too-large');
    for (let tried = 1; ; tried += 1) {
      clearTimeout(idle);
      child ??= start();
      const answer = await examineIn(child, { kind: 'mail', bytes, words }, lookUp).catch(
        (error: unknown) => {
          close();
          throw error;
        },
      );
      // Nothing waits for it.
      idle = setTimeout(close, idleMs).unref();
      if (answer.kind === 'examined') return answer.mail;
      const error = new UnreadMailError(answer.reason);
      if (!error.isFault) throw error;
      close();
      if (tried === attempts) throw error;
    }
  };
  return { examine, close };
}

/** @throws what `lookUp` throws, or why the process can't be started: neither is the e-mail's fault */
async function examineIn(child: ChildProcess, order: Order, lookUp: LookUp): Promise<LastAnswer> {
  try {
    const answer = await converse<Answer>(child, order, (given) =>
      given.kind === 'look-up'
        ? lookUp(given.hashes).then((known): Order => ({ kind: 'known', known }))
        : undefined,
    );
    return answer.kind === 'look-up' ? { kind: 'unread', reason: 'failed' } : answer;
  } catch (error) {
    if (error instanceof LimitedProcessError) return { kind: 'unread', reason: error.fault };
    throw error;
  }
}

/** The process's end: examines one e-mail after the other. `watch` is told when one begins, and when it ends. */
export function answerMails(watch: Watch): void {
  let takeKnown: (known: KnownThings) => void = () => {};
  const send = (answer: Answer) => void process.send?.(answer);
  const lookUp: LookUp = (hashes) =>
    new Promise((resolve) => {
      takeKnown = resolve;
      send({ kind: 'look-up', hashes });
    });
  process.on('message', (order: Order) => {
    if (order.kind === 'known') return takeKnown(order.known);
    const { bytes, words } = order;
    watch(true);
    void examineMail(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), words, lookUp)
      .then(
        (mail): Answer => ({ kind: 'examined', mail }),
        // What the error says may quote the e-mail.
        (error: unknown): Answer => ({
          kind: 'unread',
          reason: error instanceof UnreadMailError ? error.reason : 'failed',
        }),
      )
      .then((answer) => {
        watch(false);
        send(answer);
      });
  });
}
