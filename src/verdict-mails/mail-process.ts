import type { ChildProcess } from 'node:child_process';
import type { MessagePort } from 'node:worker_threads';
import type { UnreadReason } from '../ledger/mails.js';
import { type ExaminedMail, examineMail, type KnownThings, type LookUp } from './examine-mail.js';
import type { VerdictWords } from './headings.js';
import { maxMailBytes } from './read-mail.js';
import { UnreadMailError } from './records.js';

/*
 * E-mails are texts of strangers, and parsers take very long for some of them, or much memory. So they are read in a process of
 * their own, one after the other. That process ends itself when an e-mail takes too much, and is replaced.
 */

const megabyte = 1024 * 1024;

/** How much an e-mail may take of the process that reads it. */
export const readerLimits = {
  /** Of JavaScript objects; V8 ends the process. */
  heapBytes: 512 * megabyte,
  /** Of the whole process, with its buffers. */
  processBytes: 768 * megabyte,
  /** Of processor time, by all threads. Unlike a time limit it does not depend on what else the machine does. */
  processorMs: 10_000,
};

export type ReaderLimits = typeof readerLimits;

/** For a process that does nothing at all: it is stopped, or has no memory to run in. */
const answerMs = 300_000;
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

/** @param start starts a process that calls `answerMails`, with `serialization: 'advanced'` */
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
      child ??= begin(start);
      const answer = await converse(child, { kind: 'mail', bytes, words }, lookUp).catch((error: unknown) => {
        close();
        throw error;
      });
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

/** It does not keep this process alive: an e-mail in progress does, by its time limit. */
function begin(start: () => ChildProcess): ChildProcess {
  const child = start();
  child.unref();
  child.channel?.unref();
  // Whoever converses with it is told; without a listener it would end this process.
  child.on('error', () => {});
  return child;
}

/** @throws what `lookUp` throws, or why the process can't be started: neither is the e-mail's fault */
function converse(child: ChildProcess, order: Order, lookUp: LookUp): Promise<LastAnswer> {
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      clearTimeout(timer);
      child.off('message', take).off('exit', explain).off('error', fail);
      end();
    };
    const send = (message: Order) => void child.send(message, () => {});
    const fail = (error: unknown) => finish(() => reject(error));
    const giveUp = (reason: UnreadReason) => finish(() => resolve({ kind: 'unread', reason }));
    const explain = (_code: number | null, signal: NodeJS.Signals | null) =>
      giveUp((signal && faultOfSignal[signal]) ?? 'failed');
    const take = (answer: Answer) => {
      if (answer.kind !== 'look-up') finish(() => resolve(answer));
      else lookUp(answer.hashes).then((known) => send({ kind: 'known', known }), fail);
    };
    const timer = setTimeout(() => giveUp('too-slow'), answerMs);
    child.on('message', take).once('exit', explain).once('error', fail);
    if (child.exitCode !== null || child.signalCode !== null) explain(child.exitCode, child.signalCode);
    else send(order);
  });
}

/** The signal for used processor time. Unlike SIGXCPU it leaves no dump of the memory, which would hold the e-mail. */
const timeIsUp = 'SIGVTALRM';
/** The kernel uses it for the same reason. */
const memoryIsUsed = 'SIGKILL';

const faultOfSignal: { readonly [Signal in NodeJS.Signals]?: UnreadReason } = {
  [timeIsUp]: 'too-slow',
  [memoryIsUsed]: 'too-much-memory',
  // V8's own limit.
  SIGABRT: 'too-much-memory',
};

/** The process's end: examines one e-mail after the other. `watch` is told when one begins, and when it ends. */
export function answerMails(watch: (isReading: boolean) => void): void {
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

/** How often the limits are looked at while an e-mail is read. */
const lookMs = 50;

/** Ends this process as soon as an e-mail takes more than the limits, from a thread: the main one may be busy for good. */
export function watchLimits(port: MessagePort, { processBytes, processorMs }: ReaderLimits): void {
  let timer: NodeJS.Timeout | undefined;
  port.on('message', (isReading: boolean) => {
    clearInterval(timer);
    if (!isReading) return;
    const before = process.cpuUsage();
    timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1_000 > processorMs) process.kill(process.pid, timeIsUp);
      if (process.memoryUsage.rss() > processBytes) process.kill(process.pid, memoryIsUsed);
    }, lookMs);
  });
}
