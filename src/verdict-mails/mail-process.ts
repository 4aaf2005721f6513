import type { ChildProcess } from 'node:child_process';
import type { MessagePort } from 'node:worker_threads';
import {
  createMailExaminer,
  type ExaminedMail,
  type ExamineMail,
  type KnownThings,
  type LookUp,
} from './examine-mail.js';
import type { VerdictWords } from './headings.js';
import { defaultLimits } from './read-mail.js';
import { UnreadableMailError, type UnreadableReason } from './unreadable-mail.js';

/*
 * E-mails are texts of strangers, and parsers take very long for some of them, or much memory. So they are read in a process of
 * their own, one after the other. That process ends itself when an e-mail takes too much, and is replaced.
 */

/** How much an e-mail may take of the process that reads it. */
export interface ReaderLimits {
  /** Of JavaScript objects; V8 ends the process. */
  readonly heapBytes: number;
  /** Of the whole process, with its buffers. */
  readonly processBytes: number;
  /** Of processor time, by all threads. Unlike a time limit it does not depend on what else the machine does. */
  readonly processorMs: number;
}

const megabyte = 1024 * 1024;

export const readerLimits: ReaderLimits = {
  heapBytes: 512 * megabyte,
  processBytes: 768 * megabyte,
  processorMs: 10_000,
};

/** For a process that does nothing at all: it is stopped, or has no memory to run in. */
const answerMs = 300_000;
/** Several e-mails in sequence share a process; then its memory is worth more. */
const idleMs = 10_000;
const attempts = 2;

/** Why an e-mail was given up. */
export type ReaderFault = 'too-slow' | 'too-much-memory' | 'failed';

/** Reading an e-mail failed twice. The message quotes nothing of it. */
export class FailedMailError extends Error {
  override readonly name = 'FailedMailError';
  readonly reason: ReaderFault;

  constructor(reason: ReaderFault) {
    super(`reading the e-mail failed twice: ${reason}`);
    this.reason = reason;
  }
}

type Order =
  | { readonly kind: 'mail'; readonly bytes: Uint8Array; readonly words: VerdictWords }
  | { readonly kind: 'known'; readonly known: KnownThings };

type Answer =
  | { readonly kind: 'look-up'; readonly hashes: Uint32Array }
  | { readonly kind: 'examined'; readonly mail: ExaminedMail }
  | { readonly kind: 'unreadable'; readonly reason: UnreadableReason }
  | { readonly kind: 'failed' };

type LastAnswer = Exclude<Answer, { kind: 'look-up' }>;

export interface MailProcess {
  readonly examine: ExamineMail;
  /** Ends the process. Another e-mail would start one. */
  close(): void;
}

/** @param start starts a process that calls `answerMails`, with `serialization: 'advanced'` */
export function createMailProcess(words: VerdictWords, start: () => ChildProcess): MailProcess {
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(idle);
    child?.kill('SIGKILL');
    child = undefined;
  }

  async function attempt(bytes: Uint8Array, lookUp: LookUp): Promise<LastAnswer | ReaderFault> {
    clearTimeout(idle);
    child ??= begin(start);
    const answer = await converse(child, { kind: 'mail', bytes, words }, lookUp).catch((error: unknown) => {
      close();
      throw error;
    });
    if (typeof answer === 'string') close();
    // Nothing waits for it.
    else idle = setTimeout(close, idleMs).unref();
    return answer;
  }

  return {
    async examine(bytes, lookUp) {
      if (bytes.length > defaultLimits.maxBytes) throw new UnreadableMailError('too-large');
      let fault: ReaderFault = 'failed';
      for (let tried = 0; tried < attempts; tried += 1) {
        const answer = await attempt(bytes, lookUp);
        if (typeof answer === 'string') fault = answer;
        else if (answer.kind === 'examined') return answer.mail;
        else if (answer.kind === 'unreadable') throw new UnreadableMailError(answer.reason);
        else fault = 'failed';
      }
      throw new FailedMailError(fault);
    },
    close,
  };
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
function converse(child: ChildProcess, order: Order, lookUp: LookUp): Promise<LastAnswer | ReaderFault> {
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      clearTimeout(timer);
      child.off('message', take).off('exit', explain).off('error', fail);
      end();
    };
    const send = (message: Order) => void child.send(message, () => {});
    const fail = (error: unknown) => finish(() => reject(error));
    const explain = (_code: number | null, signal: NodeJS.Signals | null) =>
      finish(() => resolve(signal === null ? 'failed' : (faultOfSignal[signal] ?? 'failed')));
    const take = (answer: Answer) => {
      if (answer.kind !== 'look-up') finish(() => resolve(answer));
      else lookUp(answer.hashes).then((known) => send({ kind: 'known', known }), fail);
    };
    const timer = setTimeout(() => finish(() => resolve('too-slow')), answerMs);
    child.on('message', take).once('exit', explain).once('error', fail);
    if (child.exitCode !== null || child.signalCode !== null) explain(child.exitCode, child.signalCode);
    else send(order);
  });
}

/** The signal for used processor time. Unlike SIGXCPU it leaves no dump of the memory, which would hold the e-mail. */
const timeIsUp = 'SIGVTALRM';
/** The kernel uses it for the same reason. */
const memoryIsUsed = 'SIGKILL';

const faultOfSignal: { readonly [Signal in NodeJS.Signals]?: ReaderFault } = {
  [timeIsUp]: 'too-slow',
  [memoryIsUsed]: 'too-much-memory',
  // V8's own limit.
  SIGABRT: 'too-much-memory',
};

/** The process's end: examines one e-mail after the other. `watch` is told when one begins, and when it ends. */
export function answerMails(
  process: Pick<NodeJS.Process, 'on' | 'send'>,
  watch: (isReading: boolean) => void,
): void {
  let takeKnown: (known: KnownThings) => void = () => {};
  const send = (answer: Answer) => void process.send?.(answer);
  const lookUp: LookUp = (hashes) =>
    new Promise((resolve) => {
      takeKnown = resolve;
      send({ kind: 'look-up', hashes });
    });
  const examine = async ({ bytes, words }: Extract<Order, { kind: 'mail' }>): Promise<Answer> => {
    try {
      const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return { kind: 'examined', mail: await createMailExaminer(words)(content, lookUp) };
    } catch (error) {
      // What the error says may quote the e-mail.
      return error instanceof UnreadableMailError
        ? { kind: 'unreadable', reason: error.reason }
        : { kind: 'failed' };
    }
  };
  process.on('message', (order: Order) => {
    if (order.kind === 'known') return takeKnown(order.known);
    watch(true);
    void examine(order).then((answer) => {
      watch(false);
      send(answer);
    });
  });
}

/** How often the limits are looked at while an e-mail is read. */
const lookMs = 50;

/** Ends this process as soon as an e-mail takes more than the limits, from a thread: the main one may be busy for good. */
export function watchLimits(
  port: Pick<MessagePort, 'on'>,
  { processBytes, processorMs }: ReaderLimits,
): void {
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
