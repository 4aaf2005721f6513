import type { QueuedStep, StepQueue } from '../../src/booking/step-queue.js';
import type { Outside } from './outside.js';
import type { Turns } from './turns.js';

interface Pace extends Pick<Outside, 'clock' | 'reach'> {
  /** A step begins only when the one before it is recorded. */
  readonly isSerial: boolean;
  /** The process is dead. */
  readonly isOver: () => boolean;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
  readonly turns: Turns;
  /** Whether a step is handed out twice, as a queue may do that several workers share. */
  readonly isDoubled: () => boolean;
}

/**
 * The queue of workers for whom time passes only while there is nothing to do: when all other work is
 * done, it is at once as late as the next waiting step needs.
 */
export function withoutWaiting(
  inner: StepQueue,
  { clock, reach, isSerial, isOver, longestWaitMs, turns, isDoubled }: Pace,
): StepQueue {
  let waiting: (QueuedStep & { readonly notBefore: number })[] = [];
  /** Steps that the inner queue holds or is handing out. */
  let open = 0;
  let isDropped = false;
  let isBegun = false;

  async function handOver(step: QueuedStep): Promise<void> {
    const copies = isDoubled() ? [step, step] : [step];
    open += copies.length;
    await inner.add(copies);
  }

  async function goOn(): Promise<void> {
    if (open > 0 || isDropped || isOver()) return;
    const [next] = waiting.sort((one, other) => one.notBefore - other.notBefore);
    // A real queue would wait for ever.
    if (!next) throw new Error('the run is not over, and no step is left in its queue');
    waiting = waiting.filter((step) => step !== next);
    reach(next.notBefore);
    await handOver(next);
  }

  /** A clock that was ahead must not make anybody wait. */
  function checkWait(notBefore: number): number {
    if (!isBegun) throw new Error('a step still waits as a dead process wanted it to');
    if (notBefore - clock() > longestWaitMs)
      throw new Error('a step waits for longer than the settings allow');
    return notBefore;
  }

  return {
    ...inner,
    async add(steps) {
      for (const step of steps) {
        const { notBefore } = step;
        if (notBefore === undefined || notBefore <= clock()) await handOver(step);
        else waiting.push({ ...step, notBefore: checkWait(notBefore) });
      }
      isBegun = true;
      await goOn();
    },
    work(perform, options) {
      inner.work(async (reference, signal, releasePermit) => {
        await turns.perform(() => perform(reference, signal, isSerial ? () => {} : releasePermit));
        open -= 1;
        await goOn();
      }, options);
    },
    async drop(runId) {
      isDropped = true;
      await inner.drop(runId);
    },
  };
}
