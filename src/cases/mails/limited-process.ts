import { type ChildProcess, fork } from 'node:child_process';
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { megabyte } from './mail-bytes.js';

/*
 * What strangers send is read in processes of their own: parsers take very long for some of it, or much memory. Such a process performs
 * one order after the other. It ends itself when one takes too much, and is replaced.
 */

/** How much an order may take of its process. */
export interface ProcessLimits {
  /** Of JavaScript objects; V8 ends the process. */
  readonly heapBytes: number;
  /** Of the whole process, with its buffers. */
  readonly processBytes: number;
  /** Of processor time, by all threads. Unlike a time limit it does not depend on what else the machine does. */
  readonly processorMs: number;
}

/** For a process that does nothing at all: it waits for somebody, is stopped, or has no memory to run in. */
const answerMs = 300_000;

/** Starts a process that calls `runLimited`. */
export function startLimited(entry: URL, limits: ProcessLimits): ChildProcess {
  const child = fork(entry, [JSON.stringify(limits)], {
    execArgv: [`--max-old-space-size=${limits.heapBytes / megabyte}`],
    // It needs none of the secrets in ours.
    env: {},
    serialization: 'advanced',
    // V8's last words could quote what it was given.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // It does not keep this process alive: an order in progress does, by its time limit.
  child.unref();
  child.channel?.unref();
  // Whoever converses with it is told; without a listener it would end this process.
  child.on('error', () => {});
  return child;
}

export type ProcessFault = 'too-slow' | 'too-much-memory' | 'failed';

/** The process ended, or did not answer in time. It has to be killed. */
export class LimitedProcessError extends Error {
  override readonly name = 'LimitedProcessError';
  constructor(readonly fault: ProcessFault) {
    super(`the process ended: ${fault}`);
  }
}

/** Sends an order, and waits for its answer. @throws LimitedProcessError, or why the process can't be started */
export function converse<Answer>(child: ChildProcess, order: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      clearTimeout(timer);
      child.off('message', take).off('exit', explain).off('error', fail);
      end();
    };
    const fail = (error: unknown) => finish(() => reject(error));
    const explain = (_code: number | null, signal: NodeJS.Signals | null) =>
      fail(new LimitedProcessError((signal && faultOfSignal[signal]) ?? 'failed'));
    const take = (answer: Answer) => finish(() => resolve(answer));
    const timer = setTimeout(() => fail(new LimitedProcessError('too-slow')), answerMs);
    child.on('message', take).once('exit', explain).once('error', fail);
    if (child.exitCode !== null || child.signalCode !== null) explain(child.exitCode, child.signalCode);
    else child.send(order, () => {});
  });
}

/** The signal for used processor time. Unlike SIGXCPU it leaves no dump of the memory, which would hold what was read. */
const timeIsUp = 'SIGVTALRM';
/** The kernel uses it for the same reason. */
const memoryIsUsed = 'SIGKILL';

const faultOfSignal: { readonly [Signal in NodeJS.Signals]?: ProcessFault } = {
  [timeIsUp]: 'too-slow',
  [memoryIsUsed]: 'too-much-memory',
  // V8's own limit.
  SIGABRT: 'too-much-memory',
};

/** The whole of such a process. @param entry its file, which a thread of it loads, too */
export async function runLimited<Order>(
  entry: URL,
  load: () => Promise<(order: Order) => Promise<object>>,
): Promise<void> {
  if (!isMainThread) {
    if (parentPort) watchLimits(parentPort, workerData as ProcessLimits);
    return;
  }
  // Sent to all processes of a terminal or a service. The parent decides what becomes of the order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => process.exit());
  const watcher = new Worker(entry, { workerData: JSON.parse(process.argv[2] ?? '') });
  watcher.unref();
  // The thread that watches the limits does not need it.
  const perform = await load();
  process.on('message', (order) => {
    watcher.postMessage('begin');
    void perform(order as Order).then((answer) => process.send?.(answer));
  });
}

/** How often the limits are looked at. */
const lookMs = 50;

/**
 * Ends this process as soon as it has taken more than the limits since its last order began, from a thread: the main one may be busy
 * for good.
 */
function watchLimits(port: MessagePort, { processBytes, processorMs }: ProcessLimits): void {
  let timer: NodeJS.Timeout | undefined;
  port.on('message', () => {
    clearInterval(timer);
    const before = process.cpuUsage();
    timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1_000 > processorMs) process.kill(process.pid, timeIsUp);
      if (process.memoryUsage.rss() > processBytes) process.kill(process.pid, memoryIsUsed);
    }, lookMs);
  });
}
