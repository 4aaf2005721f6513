import { afterEach, describe, expect, it } from 'vitest';
import type { StepQueue } from '../../src/booking/step-queue.js';
import { createWorker, nameOf, settled, stepsOf } from './queue-worker.js';

export interface QueueUnderTest {
  readonly queue: StepQueue;
  cleanUp(): Promise<void>;
}

export interface QueueOptions {
  readonly concurrency: number;
  readonly perSecond?: number;
}

const anHour = 3_600_000;
/** More than any queue keeps in memory. */
const fullBacklog = 3_000;

/** The contract of every queue. */
export function describeQueueContract(
  name: string,
  { create }: { create(options: QueueOptions): Promise<QueueUnderTest> },
): void {
  describe(`${name} fulfils the contract of a queue: it`, () => {
    const opened: QueueUnderTest[] = [];
    const open = async (options: QueueOptions) => {
      const underTest = await create(options);
      opened.push(underTest);
      return { queue: underTest.queue, worker: createWorker(underTest.queue) };
    };
    afterEach(async () => {
      for (const { queue, cleanUp } of opened.splice(0)) {
        await queue.close();
        await cleanUp();
      }
    });

    describe('hands out', () => {
      it('steps one at a time in the order of adding, with a concurrency of 1', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        const references = stepsOf('run-a', 30);
        await queue.add(references.slice(0, 20));
        worker.start();
        await queue.add(references.slice(20));
        await settled(() => expect(worker.names()).toHaveLength(30));
        expect(worker.names()).toEqual(references.map(nameOf));
      });

      it('the next step when one releases its slot, and waits for both at the end', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.holdAll();
        worker.releaseAtOnce();
        await queue.add(stepsOf('run-a', 2));
        worker.start();
        await settled(() => expect(worker.inHand()).toBe(2));
        const closed = queue.close({ graceMs: anHour });
        worker.letAllGo();
        await closed;
        expect(worker.log.slice(2).sort()).toEqual(
          stepsOf('run-a', 2).map((step) => `ended ${nameOf(step)}`),
        );
      });

      it('urgent steps before waiting ones', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        await queue.add(stepsOf('run-a', 5));
        await queue.add([{ runId: 'run-a', step: 'upload', attempt: 1, isUrgent: true }]);
        worker.holdAll();
        worker.start();
        await settled(() => expect(worker.inHand()).toBe(1));
        await queue.add([{ runId: 'run-a', step: 'trigger', attempt: 1, isUrgent: true }]);
        worker.letAllGo();
        await settled(() => expect(worker.names()).toHaveLength(7));
        expect(worker.names().slice(0, 2)).toEqual(['run-a upload 1', 'run-a trigger 1']);
      });

      it('the next attempt that a step adds while it is in progress', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.holdAll();
        worker.start();
        const [first] = stepsOf('run-a', 1);
        if (first) await queue.add([first, { ...first, attempt: 2 }]);
        await settled(() => expect(worker.inHand()).toBe(1));
        if (first) await queue.add([{ ...first, attempt: 3 }]);
        worker.letAllGo();
        await settled(() => expect(worker.names()).toHaveLength(3));
      });

      it('no step before its time, and the others meanwhile', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.start();
        const notBefore = Date.now() + 300;
        await queue.add([{ runId: 'run-a', step: 'late', attempt: 2, notBefore }, ...stepsOf('run-a', 3)]);
        await settled(() => expect(worker.names()).toHaveLength(4));
        expect(worker.names().at(-1)).toBe('run-a late 2');
        expect(worker.handedOutAt('run-a late 2')).toBeGreaterThanOrEqual(notBefore);
      });

      it('the others when one fails, and reports that one', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        const fault = new Error('the second step broke');
        worker.failOn('run-a batch 1 1', fault);
        worker.start();
        await queue.add(stepsOf('run-a', 4));
        await settled(() => expect(worker.names()).toHaveLength(4));
        await settled(() => expect(worker.errors).toHaveLength(1));
        expect(worker.errors[0]?.error).toBe(fault);
        expect(worker.errors[0]?.reference).toMatchObject({ runId: 'run-a', step: 'batch 1', attempt: 1 });
      });
    });

    it('holds off until the latest instant that was asked for, and says once that this has begun', async () => {
      const { queue, worker } = await open({ concurrency: 2 });
      worker.start();
      const until = Date.now() + 600;
      for (const offset of [-100, 200, -200, 0]) await queue.holdOff(until + offset);
      await queue.add([
        ...stepsOf('run-a', 2),
        { runId: 'run-a', step: 'upload', attempt: 1, isUrgent: true },
      ]);
      await settled(() => expect(worker.names()).toHaveLength(3));
      for (const at of worker.instants()) expect(at).toBeGreaterThanOrEqual(until + 200);
      expect(await queue.holdOff(Date.now() - 1)).toBe(false);
      const later = Date.now() + anHour;
      const begins: boolean[] = [];
      for (const offset of [0, -100, 0, 200]) begins.push(await queue.holdOff(later + offset));
      expect(begins).toEqual([true, false, false, false]);
    });

    describe('drops', () => {
      it('only the waiting steps of that run, due or not, and none of a run with a similar name', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.holdAll();
        worker.start();
        const late = { step: 'late', attempt: 2, notBefore: Date.now() + anHour };
        await queue.add([...stepsOf('run-a', 3), ...stepsOf('run-ab', 2)]);
        await settled(() => expect(worker.names()).toEqual(['run-a batch 0 1']));
        await queue.add([
          ...['run-a', 'run-ab'].map((runId) => ({ runId, ...late })),
          { runId: 'run-a', step: 'upload', attempt: 1, isUrgent: true },
        ]);
        await queue.drop('run-a');
        expect(await queue.countWaiting()).toBe(3);
        worker.letAllGo();
        await settled(() => expect(worker.names()).toHaveLength(3));
        expect(worker.names().slice(1)).toEqual(stepsOf('run-ab', 2).map(nameOf));
      });
    });

    describe('reports capacity', () => {
      it('when a full backlog has shrunk', async () => {
        const { queue, worker } = await open({ concurrency: 50 });
        await queue.add(stepsOf('run-a', fullBacklog));
        const capacity = queue.waitForCapacity();
        worker.start();
        await capacity;
        await settled(() => expect(worker.names()).toHaveLength(fullBacklog));
      });

      it('when it closes, so that nobody waits forever', async () => {
        const { queue } = await open({ concurrency: 1 });
        await queue.add(stepsOf('run-a', fullBacklog));
        const capacity = queue.waitForCapacity();
        await queue.close();
        await capacity;
      });
    });

    describe('closes', () => {
      it('by handing out nothing more and waiting for steps in progress', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.holdAll();
        worker.start();
        await queue.add(stepsOf('run-a', 5));
        await settled(() => expect(worker.inHand()).toBe(1));
        const closed = queue.close({ graceMs: anHour }).then(() => worker.log.push('closed'));
        await queue.add(stepsOf('run-b', 5));
        worker.letAllGo();
        await closed;
        expect(worker.log).toEqual(['began run-a batch 0 1', 'ended run-a batch 0 1', 'closed']);
      });

      it('by aborting steps in progress after the grace period', async () => {
        const { queue, worker } = await open({ concurrency: 2 });
        worker.holdAll();
        worker.start();
        await queue.add(stepsOf('run-a', 5));
        await settled(() => expect(worker.inHand()).toBe(2));
        expect(worker.log.filter((line) => line.startsWith('aborted'))).toEqual([]);
        await queue.close({ graceMs: 20 });
        expect(worker.log.filter((line) => line.startsWith('aborted'))).toEqual([
          'aborted run-a batch 0 1',
          'aborted run-a batch 1 1',
        ]);
        expect(worker.names()).toHaveLength(2);
      });

      it('during a hold-off, with a full backlog and with steps due much later', async () => {
        const { queue, worker } = await open({ concurrency: 1 });
        worker.start();
        await queue.holdOff(Date.now() + anHour);
        await queue.add([
          ...stepsOf('run-a', fullBacklog),
          { runId: 'run-b', step: 'late', attempt: 2, notBefore: Date.now() + anHour },
        ]);
        await queue.close({ graceMs: anHour });
        expect(worker.names()).toEqual([]);
      });
    });
  });
}
