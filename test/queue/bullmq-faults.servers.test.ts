import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueAwayError } from '../../src/booking/step-queue.js';
import { nameOf, settled, stepsOf } from '../contracts/queue-worker.js';
import { patienceMs } from '../support/patience.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { answerMs, useQueues } from './opened-queues.js';

const anHour = 3_600_000;

let redis: RunningRedis;
let proxy: TcpProxy;
beforeEach(async ({ skip }) => {
  skip(redisNeeds !== undefined, redisNeeds);
  redis = await startRedis();
  proxy = await startTcpProxy(redis.port);
});
afterEach(async () => {
  await redis?.close();
  await proxy?.stop();
});
const openQueue = useQueues();

function open(options: Partial<Parameters<typeof openQueue>[0]> = {}) {
  return openQueue({ url: redis.url, answerMs, ...options });
}

/** Starts work and waits until a step is in hand. */
async function openWorking(options: Partial<Parameters<typeof openQueue>[0]> = {}) {
  const opened = open(options);
  opened.worker.start();
  await opened.queue.add([{ runId: 'run-0', step: 'first', attempt: 1 }]);
  await settled(() => expect(opened.worker.log).toContain('ended run-0 first 1'));
  return opened;
}

const sinceFirst = ({ worker }: ReturnType<typeof open>) => worker.names().slice(1);

describe('while Redis is unavailable', () => {
  it('a queue opens, rejects what is added, and accepts it once Redis is back', async () => {
    await redis.kill();
    const { queue, worker, notices } = open();
    worker.start();
    const steps = stepsOf('run-a', 3);
    await expect(queue.add(steps)).rejects.toThrow(QueueAwayError);
    await expect(queue.add(steps)).rejects.toThrow(`the queue at ${redis.url} does not answer`);
    await redis.startAgain({ empty: true });
    await settled(() => expect(notices.at(-1)?.type).toBe('queue-back'));
    // A rejected step is not added later.
    await queue.add(stepsOf('run-b', 2));
    await settled(() => expect(worker.names()).toEqual(stepsOf('run-b', 2).map(nameOf)));
  });

  it('this is reported once, and so is its return, without user and password', async () => {
    const url = `redis://reviewer:s3cret@127.0.0.1:${redis.port}/2`;
    const setUser = ['SETUSER', 'reviewer', 'on', '>s3cret', 'allkeys', 'allcommands'] as const;
    await redis.ask((client) => client.call('ACL', ...setUser));
    const { queue, notices } = await openWorking({ url });
    await redis.kill();
    const faults = [];
    for (let tries = 0; tries < 3; tries += 1)
      faults.push(await queue.add(stepsOf('run-a', 1)).catch(String));
    await redis.startAgain({ empty: false });
    await redis.ask((client) => client.call('ACL', ...setUser));
    const address = `redis://127.0.0.1:${redis.port}/2`;
    await settled(() =>
      expect(notices).toEqual([
        { type: 'queue-away', address, reason: expect.any(String) },
        { type: 'queue-back', address },
      ]),
    );
    expect(faults.join()).toContain(address);
    expect(JSON.stringify([notices, faults])).not.toMatch(/s3cret|reviewer/);
  });

  it('a step in progress continues, and its end is recorded once Redis is back', async () => {
    const { queue, worker, notices } = open({ lockMs: 60_000 });
    worker.holdAll();
    worker.start();
    await queue.add(stepsOf('run-a', 3));
    await settled(() => expect(worker.inHand()).toBe(1));
    await redis.kill();
    await settled(() => expect(notices.map(({ type }) => type)).toEqual(['queue-away']));
    worker.letAllGo();
    await settled(() => expect(worker.log).toContain('ended run-a batch 0 1'));
    await expect(queue.add(stepsOf('run-b', 1))).rejects.toThrow(QueueAwayError);
    await redis.startAgain({ empty: false });
    await settled(() => expect(worker.names()).toHaveLength(3));
    expect(worker.names()).toEqual(stepsOf('run-a', 3).map(nameOf));
    expect(worker.errors).toEqual([]);
    await queue.close();
    expect(await redis.ask((client) => client.keys('*:run-a/*'))).toEqual([]);
  });
});

describe('a worker continues with what is added later', () => {
  it.each([
    ['was killed and came back empty', () => redis.kill().then(() => redis.startAgain({ empty: true }))],
    ['was killed and came back as it was', () => redis.kill().then(() => redis.startAgain({ empty: false }))],
    ['was flushed', () => redis.flushAll()],
    ['forgot its scripts', () => redis.ask((client) => client.script('FLUSH'))],
    ['broke all connections', () => redis.ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal'))],
  ])('when Redis %s while it waits for work', async (_fault, happen) => {
    const opened = await openWorking({ perSecond: 100 });
    await happen();
    await settledAdd(opened.queue, stepsOf('run-a', 5));
    await settled(() => expect(sinceFirst(opened)).toEqual(stepsOf('run-a', 5).map(nameOf)));
  });

  it.each([
    ['is killed and comes back empty', () => redis.kill().then(() => redis.startAgain({ empty: true }))],
    ['is flushed', () => redis.flushAll()],
    [
      'forgets its scripts and all they made',
      () => redis.ask((client) => client.script('FLUSH').then(() => client.flushall())),
    ],
  ])('when Redis %s while it has steps in progress and more wait', async (_fault, happen) => {
    const opened = open({ concurrency: 2, perSecond: 100 });
    const { queue, worker } = opened;
    worker.holdAll();
    worker.start();
    await queue.add([
      ...stepsOf('run-a', 50),
      { runId: 'run-a', step: 'late', attempt: 1, notBefore: Date.now() + anHour },
    ]);
    await settled(() => expect(worker.inHand()).toBe(2));
    await queue.holdOff(Date.now() + anHour);
    await happen();
    worker.letAllGo();
    await settledAdd(queue, stepsOf('run-b', 5));
    await settled(() => expect(worker.names().filter((name) => name.startsWith('run-b'))).toHaveLength(5));
    expect(worker.names()).toHaveLength(7);
    expect(worker.errors).toEqual([]);
  });

  it('when the network dropped all packets for a while without breaking a connection', async () => {
    const opened = await openWorking({ url: `redis://127.0.0.1:${proxy.port}` });
    proxy.blackHole();
    await expect(opened.queue.add(stepsOf('run-a', 1))).rejects.toThrow(QueueAwayError);
    await settled(() => expect(opened.notices.map(({ type }) => type)).toEqual(['queue-away']));
    expect(proxy.happened.swallowedChunks).toBeGreaterThan(0);
    proxy.heal();
    await settledAdd(opened.queue, stepsOf('run-b', 3));
    await settled(() =>
      expect(sinceFirst(opened)).toEqual(expect.arrayContaining(stepsOf('run-b', 3).map(nameOf))),
    );
    expect(opened.notices.map(({ type }) => type)).toEqual(['queue-away', 'queue-back']);
  });
});

describe('a queue reports helpful errors', () => {
  it('not to workers, which retry a full Redis slowly and continue once it has memory', async () => {
    const { queue, worker } = open({ concurrency: 4 });
    await queue.add(stepsOf('run-a', 10));
    await redis.ask((client) => client.config('SET', 'maxmemory', '1'));
    worker.start();
    await vi.waitUntil(async () => (await countScripts()).rejected >= 2, {
      timeout: patienceMs,
      interval: 5,
    });
    expect((await countScripts()).called).toBeLessThan(30);
    expect(worker.names()).toEqual([]);
    await redis.ask((client) => client.config('SET', 'maxmemory', '0'));
    await settled(() => expect(worker.names()).toEqual(stepsOf('run-a', 10).map(nameOf)));
  });

  it('with a wrong password', async () => {
    await redis.ask((client) => client.config('SET', 'requirepass', 's3cret'));
    const { queue } = open({ url: `redis://:wr0ng@127.0.0.1:${redis.port}` });
    const fault = await queue.add(stepsOf('run-a', 1)).catch(String);
    expect(fault).toMatch(/QueueAwayError: .*WRONGPASS/);
    expect(fault).not.toContain('wr0ng');
  });
});

describe('Redis contains references only', () => {
  const canary = 'Maria Canary-Rodriguez';

  it('even after a step failed with a detailed error', async () => {
    const { queue, worker } = open();
    const fault = Object.assign(new Error(canary), { detail: canary, cause: new Error(canary) });
    worker.failOn('run-a batch 0 1', fault);
    await queue.add([
      { ...stepOf('batch 1'), notBefore: Date.now() + anHour },
      { ...stepOf('batch 0'), ...{ guest: canary } },
      stepOf('batch 2'),
    ]);
    const before = await redis.readEverything();
    expect(before).toContain('{\\"runId\\":\\"run-a\\",\\"step\\":\\"batch 0\\",\\"attempt\\":1}');
    expect(before).not.toContain(canary);
    worker.start();
    await settled(() => expect(worker.errors.map(({ error }) => error)).toEqual([fault]));
    await settled(() => expect(worker.log).toContain('ended run-a batch 2 1'));
    await queue.close();
    const after = await redis.readEverything();
    expect(after).toContain('run-a/batch%201/1');
    expect(after).not.toMatch(/Canary|queue-worker|failedReason|stacktrace/);
    expect(await redis.ask((client) => client.keys('*:run-a/batch%20[02]*'))).toEqual([]);
  });
});

/** How many scripts ran, and how many failed. */
async function countScripts(): Promise<{ called: number; rejected: number }> {
  const stats = await redis.ask((client) => client.info('commandstats'));
  const sum = (name: string) =>
    [...stats.matchAll(new RegExp(`^cmdstat_eval(?:sha)?:.*\\b${name}=(\\d+)`, 'gm'))]
      .map(([, count]) => Number(count))
      .reduce((one, other) => one + other, 0);
  return { called: sum('calls'), rejected: sum('rejected_calls') + sum('failed_calls') };
}

function stepOf(step: string) {
  return { runId: 'run-a', step, attempt: 1 };
}

/** Adds like the reconciler: again and again until it succeeds. */
async function settledAdd(
  queue: ReturnType<typeof open>['queue'],
  steps: ReturnType<typeof stepsOf>,
): Promise<void> {
  for (;;) {
    try {
      await queue.add(steps);
      return;
    } catch (error) {
      if (!(error instanceof QueueAwayError)) throw error;
    }
  }
}
