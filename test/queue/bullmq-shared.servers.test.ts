import { describe, expect, it } from 'vitest';
import { nameOf, settled, stepsOf } from '../contracts/queue-worker.js';
import { useRedis } from '../support/use-servers.js';
import { useQueues } from './opened-queues.js';

const redis = useRedis();
const openQueue = useQueues();

function open(options: Partial<Parameters<typeof openQueue>[0]> = {}) {
  return openQueue({ url: redis().url, ...options });
}

/** After how many steps one of two workers closes. */
const leavingAfter = [0, 3, 14];

const namesOf = (queues: readonly ReturnType<typeof open>[]) =>
  queues.flatMap(({ worker }) => worker.names()).sort();
const oneOf = (runId: string, step: string) => ({ runId, step, attempt: 1 });

describe('queues of several processes on one Redis', () => {
  it('hand out each reference once, to any free worker, even when two processes added it', async () => {
    const queues = [open({ concurrency: 3 }), open({ concurrency: 3 }), open({ concurrency: 3 })];
    const workers = queues.slice(1).map(({ worker }) => worker);
    for (const worker of workers) {
      worker.holdAll();
      worker.start();
    }
    const steps = stepsOf('run-a', 600);
    await Promise.all(queues.slice(0, 2).map(({ queue }) => queue.add(steps)));
    await settled(() => expect(workers.map((worker) => worker.inHand())).toEqual([3, 3]));
    expect(new Set(namesOf(queues)).size).toBe(6);
    for (const worker of workers) worker.letAllGo();
    const rest = stepsOf('run-b', 10);
    await queues[1]?.queue.add(rest);
    await settled(() => expect(namesOf(queues).filter((name) => name.startsWith('run-b'))).toHaveLength(10));
    // A worker may still be starting the last step that it took, even if the other one has started a later one. A step that
    // was done before the second addition is added again; the ledger knows that it is done.
    await settled(() =>
      expect([...new Set(namesOf(queues))]).toEqual([...steps, ...rest].map(nameOf).sort()),
    );
  });

  it('hand out a reference delayed by a process whose clock was ahead, as soon as the next process asks', async () => {
    const halfAnHour = 1_800_000;
    const ahead = open({ clock: () => Date.now() + halfAnHour });
    const right = open();
    const waiting = { ...oneOf('run-a', 'batch 000001'), attempt: 2 };
    const resumed = { ...oneOf('run-a', 'batch 000002'), attempt: 2 };
    right.worker.start();
    // By its own clock, that process asked for a shorter delay than the next one.
    await ahead.queue.add(
      [waiting, resumed].map((step) => ({ ...step, notBefore: Date.now() + halfAnHour + 100 })),
    );
    const notBefore = Date.now() + 300;
    await right.queue.add([{ ...waiting, notBefore }, resumed]);
    await settled(() => expect(right.worker.names()).toEqual([nameOf(resumed), nameOf(waiting)]));
    expect(right.worker.handedOutAt(nameOf(waiting))).toBeGreaterThanOrEqual(notBefore);
  });

  // Steps are handed out in portions of a tenth of a second: of one step, and of several.
  it.each([10, 45])('keep to %d steps per second together', async (perSecond) => {
    const queues = [1, 2, 3].map(() => open({ concurrency: 50, perSecond }));
    const count = 3 * perSecond;
    await queues[0]?.queue.add(stepsOf('run-a', count));
    for (const { worker } of queues) worker.start();
    await settled(() => expect(namesOf(queues)).toHaveLength(count));
    const instants = queues.flatMap(({ worker }) => worker.instants()).sort((one, other) => one - other);
    const portion = Math.ceil(perSecond / 10);
    instants.forEach((instant, index) => {
      // A portion may fall at either end of the second.
      const inSecond = instants.slice(index).filter((later) => later < instant + 1_000).length;
      expect(inSecond).toBeLessThanOrEqual(perSecond + 2 * portion);
    });
    expect((instants.at(-1) ?? 0) - (instants[0] ?? 0)).toBeGreaterThanOrEqual(
      ((count - 2 * portion) / perSecond) * 900,
    );
  });

  it('all hold off when one of them does', async () => {
    const [asking, ...working] = [open(), open({ concurrency: 2 }), open({ concurrency: 2, perSecond: 50 })];
    for (const { worker } of working) worker.start();
    await asking.queue.add(stepsOf('run-a', 4));
    await settled(() => expect(namesOf(working)).toHaveLength(4));
    const until = Date.now() + 600;
    expect(await asking.queue.holdOff(until)).toBe(true);
    for (const { queue } of working) expect(await queue.holdOff(until)).toBe(false);
    await asking.queue.add(stepsOf('run-b', 10));
    await settled(() => expect(namesOf(working)).toHaveLength(14));
    const later = working.flatMap(({ worker }) => worker.handedOut());
    for (const { name, at } of later) if (name.startsWith('run-b')) expect(at).toBeGreaterThanOrEqual(until);
  });

  it('do not interrupt a step that lasts much longer than its lock', async () => {
    const lockMs = 1_500;
    const [first, second] = [open({ lockMs }), open({ lockMs })];
    first.worker.holdAll();
    first.worker.start();
    await first.queue.add(stepsOf('run-a', 1));
    await settled(() => expect(first.worker.inHand()).toBe(1));
    second.worker.start();
    await first.queue.add([{ ...oneOf('run-b', 'late'), notBefore: Date.now() + 3 * lockMs }]);
    await settled(() => expect(second.worker.names()).toEqual(['run-b late 1']));
    first.worker.letAllGo();
    await settled(() => expect(first.worker.log).toContain('ended run-a batch 0 1'));
  });
});

describe('a queue that closes', () => {
  it('keeps no reference that it has not started: others get it long before its lock expires', async () => {
    const lockMs = 3_600_000;
    for (const round of leavingAfter) {
      const [leaving, staying] = [open({ lockMs, concurrency: 3 }), open({ lockMs, concurrency: 3 })];
      const names = stepsOf(`run-${round}`, 60).map(nameOf).sort();
      leaving.worker.start();
      const added = staying.queue.add(stepsOf(`run-${round}`, 60));
      await settled(() => expect(leaving.worker.names().length).toBeGreaterThan(round));
      await leaving.queue.close({ graceMs: 60_000 });
      await added;
      staying.worker.start();
      await settled(() => expect(namesOf([leaving, staying])).toEqual(names));
      await staying.queue.close();
    }
  });

  it('still passes on what its steps in hand add, and the pause that they ask for', async () => {
    const [leaving, staying] = [open(), open()];
    leaving.worker.holdAll();
    leaving.worker.start();
    await leaving.queue.add(stepsOf('run-a', 1));
    await settled(() => expect(leaving.worker.inHand()).toBe(1));
    const closed = leaving.queue.close({ graceMs: 60_000 });
    const until = Date.now() + 3_600_000;
    await leaving.queue.holdOff(until);
    // Redis has half a second for each answer now.
    await settled(() => leaving.queue.add(stepsOf('run-b', 2)));
    leaving.worker.letAllGo();
    await closed;
    expect(await staying.queue.countWaiting()).toBe(2);
    // It is in force already.
    expect(await staying.queue.holdOff(until)).toBe(false);
  });
});
