import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../src/base/abort.js';
import type { StepReference } from '../../src/booking/step-queue.js';
import { createInProcessQueues } from '../../src/queue/in-process.js';
import { describeQueueContract } from '../contracts/queue.js';

const aDay = 86_400_000;
const clock = () => Date.now();

describeQueueContract('the in-process queue', {
  async create(options) {
    return { queue: createInProcessQueues({ ...options, clock })(), cleanUp: async () => {} };
  },
});

describe('the in-process queue, with a fake clock,', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date('2026-11-21T02:30:00Z') });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function openQueue(options: { concurrency: number; perSecond?: number }) {
    const queue = createInProcessQueues({ ...options, clock })();
    const instants: number[] = [];
    queue.work(
      async () => {
        instants.push(clock());
      },
      {
        onError: (error) => {
          throw error;
        },
      },
    );
    return { queue, instants };
  }

  it.each([0.5, 3, 20, 30, 45, 75, 300, 1_000])('spreads %d steps over a second', async (perSecond) => {
    const { queue, instants } = openQueue({ concurrency: 1_000, perSecond });
    const started = clock();
    await queue.add(Array.from({ length: 4 * perSecond + 10 }, (_, index) => step(`batch ${index}`)));
    await vi.advanceTimersByTimeAsync(4_000);
    const inOneTick = Math.ceil(perSecond / 50);
    for (const from of [0, 250, 500, 1_000, 2_900]) {
      const inWindow = instants.filter((at) => at >= started + from && at < started + from + 1_000);
      expect(inWindow.length).toBeLessThanOrEqual(Math.ceil(perSecond) + inOneTick);
    }
    expect(instants.length).toBeGreaterThanOrEqual(Math.floor(4 * perSecond * 0.85));
    expect(instants.length).toBeLessThanOrEqual(4 * perSecond + inOneTick);
    await queue.close();
  });

  it.each(['a step that waits', 'a pause of the queue'])(
    'a clock that is set back prolongs neither: %s',
    async (what) => {
      const open = createInProcessQueues({ concurrency: 1, clock });
      const queue = open();
      const done: string[] = [];
      const perform = async ({ step: name }: StepReference) => void done.push(name);
      queue.work(perform, { onError: () => {} });
      const isPause = what.includes('pause');
      if (isPause) await queue.holdOff(clock() + 5_000);
      await queue.add([{ ...step('late'), ...(!isPause && { notBefore: clock() + 5_000 }) }]);
      await vi.advanceTimersByTimeAsync(1_000);
      vi.setSystemTime(clock() - 30 * 60_000);
      const another = open();
      another.work(perform, { onError: () => {} });
      await vi.advanceTimersByTimeAsync(3_900);
      expect(done).toEqual([]);
      await vi.advanceTimersByTimeAsync(200);
      expect(done).toEqual(['late']);
      await Promise.all([queue.close(), another.close()]);
    },
  );

  it.each(['a pause of the queue', 'a step that waits'])(
    'goes on beyond the range of a timer: %s',
    async (what) => {
      const { queue, instants } = openQueue({ concurrency: 1 });
      const until = clock() + 60 * aDay;
      const isPause = what.includes('pause');
      if (isPause) await queue.holdOff(until);
      await queue.add([{ ...step('batch 0'), ...(!isPause && { notBefore: until }) }]);
      await vi.advanceTimersByTimeAsync(60 * aDay - 1);
      expect(instants).toEqual([]);
      await vi.advanceTimersByTimeAsync(2);
      expect(instants).toHaveLength(1);
    },
  );

  it('shares concurrency, rate and hold-off with the other queues of its process', async () => {
    const open = createInProcessQueues({ concurrency: 3, perSecond: 10, clock });
    const begun: number[] = [];
    let inHand = 0;
    let mostInHand = 0;
    const queues = ['run-a', 'run-b'].map((runId) => {
      const queue = open();
      queue.work(
        async () => {
          begun.push(clock());
          inHand += 1;
          mostInHand = Math.max(mostInHand, inHand);
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          inHand -= 1;
        },
        { onError: () => {} },
      );
      return { queue, runId };
    });
    const until = clock() + 5_000;
    await queues[0]?.queue.holdOff(until);
    for (const { queue, runId } of queues)
      await queue.add(Array.from({ length: 20 }, (_, index) => ({ ...step(`batch ${index}`), runId })));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(begun).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toHaveLength(40);
    expect(mostInHand).toBe(3);
    // Closing one queue takes nothing from the other.
    await queues[0]?.queue.close();
    await queues[1]?.queue.add([step('last')]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(begun).toHaveLength(41);
    await queues[1]?.queue.close();
  });

  it('leaves nothing that would keep the process alive', async () => {
    const { queue } = openQueue({ concurrency: 1, perSecond: 1 });
    const late = { ...step('late'), notBefore: clock() + aDay };
    await queue.add([step('batch 0'), step('batch 1'), late]);
    await queue.holdOff(clock() + aDay);
    await queue.close();
    await queue.add([late]);
    await queue.holdOff(clock() + 2 * aDay);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([false, true])(
    'has no capacity while a thousand references wait, until they are dropped; at work: %s',
    async (works) => {
      const queue = createInProcessQueues({ concurrency: 1, clock })();
      if (works) queue.work(async (_, signal) => void (await untilAborted(signal)), { onError: () => {} });
      if (works) await queue.add([step('in hand')]);
      await queue.add(Array.from({ length: 999 }, (_, index) => step(`batch ${index}`)));
      await queue.waitForCapacity();
      await queue.add([step('batch 999')]);
      const hasRoom = vi.fn();
      const room = queue.waitForCapacity().then(hasRoom);
      await vi.advanceTimersByTimeAsync(aDay);
      expect(hasRoom).not.toHaveBeenCalled();
      await queue.drop('run-a');
      await room;
      const closed = queue.close();
      await vi.advanceTimersByTimeAsync(1);
      await closed;
    },
  );
});

function step(name: string) {
  return { runId: 'run-a', step: name, attempt: 1 };
}
