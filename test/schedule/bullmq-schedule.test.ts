import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBullmqSchedule } from '../../src/schedule/bullmq-schedule.js';
import type { Schedule } from '../../src/schedule/schedule.js';
import { createSlots, type Slots } from '../../src/schedule/slots.js';
import { describeScheduleContract, everySecond, waitForSlots } from '../contracts/schedule.js';
import { patienceMs } from '../support/patience.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';

/** It has no slot while a test runs. */
const newYear = createSlots('0 0 1 1 *', 'UTC');

describe.skipIf(redisNeeds !== undefined)(`the schedule on Redis (${redisNeeds ?? 'redis-server'})`, () => {
  let redis: RunningRedis;
  const schedules: Schedule[] = [];
  const connections: Redis[] = [];
  const troubles: unknown[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    troubles.length = 0;
    await redis.flushAll();
  });
  afterEach(async () => {
    await Promise.all(schedules.splice(0).map((schedule) => schedule.close()));
    connections.length = 0;
  });
  afterAll(() => redis.close());

  function connect(): Redis {
    const connection = new Redis(redis.port, '127.0.0.1', { maxRetriesPerRequest: null });
    const duplicate = connection.duplicate.bind(connection);
    connections.push(connection);
    connection.duplicate = (override) => {
      const copy = duplicate(override);
      connections.push(copy);
      return copy;
    };
    return connection;
  }

  function create(slots: Slots): Schedule {
    const schedule = createBullmqSchedule({
      slots,
      connect,
      onTrouble: (error) => troubles.push(error),
      checkMs: 50,
    });
    schedules.push(schedule);
    return schedule;
  }

  async function start(slots: Slots): Promise<{ schedule: Schedule; reported: Date[] }> {
    const schedule = create(slots);
    const reported: Date[] = [];
    await schedule.start((slot) => reported.push(slot));
    return { schedule, reported };
  }

  async function ask<Answer>(question: (queue: Queue) => Promise<Answer>): Promise<Answer> {
    const connection = new Redis(redis.port, '127.0.0.1', { maxRetriesPerRequest: null });
    const queue = new Queue('hotel-review-schedule', { connection, prefix: 'hotel-review' });
    try {
      return await question(queue);
    } finally {
      await queue.close();
      connection.disconnect();
    }
  }

  describeScheduleContract('BullMQ', { create: async (slots) => create(slots) });

  it('reports each slot to one of three processes', async () => {
    const processes = await Promise.all([start(everySecond), start(everySecond), start(everySecond)]);
    const all = () => processes.flatMap(({ reported }) => reported.map((slot) => slot.getTime()));
    await vi.waitUntil(() => all().length >= 4, { timeout: patienceMs });
    const slots = all().sort();
    const first = slots[0] ?? 0;
    expect(slots).toEqual(slots.map((_slot, index) => first + index * 1_000));
  });

  it('restores the schedule after Redis lost everything', async () => {
    const { reported } = await start(everySecond);
    await waitForSlots(reported, 1);
    await redis.flushAll();
    const before = reported.length;
    await waitForSlots(reported, before + 2);
  });

  it('restores the schedule when Redis lost only the job of the next slot', async () => {
    await start(newYear);
    const [lost] = await ask((queue) => queue.getDelayed());
    await redis.ask((client) => client.del(`hotel-review:hotel-review-schedule:${lost?.id}`));
    const isThereAgain = () => ask(async (queue) => (await queue.getJob(lost?.id ?? '')) !== undefined);
    await vi.waitUntil(isThereAgain, { timeout: patienceMs });
  });

  it('restores the schedule in a Redis that was killed and came back empty', async () => {
    const { reported } = await start(everySecond);
    await waitForSlots(reported, 1);
    await redis.kill();
    await vi.waitUntil(() => troubles.length > 0, { timeout: patienceMs });
    await redis.startAgain({ empty: true });
    const before = reported.length;
    await waitForSlots(reported, before + 2);
  });

  it.each([
    ['pattern', createSlots('0 5 1 1 *', 'UTC')],
    ['zone', createSlots('0 0 1 1 *', 'Europe/Madrid')],
  ])('replaces the %s when the configuration was changed', async (_what, changed) => {
    const { schedule } = await start(newYear);
    await schedule.close();
    await start(changed);
    const [schedulers, waiting] = await ask((queue) =>
      Promise.all([queue.getJobSchedulers(), queue.getDelayed()]),
    );
    expect(schedulers.map(({ pattern, tz }) => ({ pattern, zone: tz }))).toEqual([
      { pattern: changed.pattern, zone: changed.zone },
    ]);
    expect(waiting.map(({ opts }) => opts.prevMillis)).toEqual([changed.next(new Date())?.getTime()]);
  });

  it('leaves an existing schedule alone, so that no slot is lost between two starts', async () => {
    await start(newYear);
    const before = await ask((queue) => queue.getDelayed());
    await start(newYear);
    const after = await ask((queue) => queue.getDelayed());
    expect(after.map(({ id, timestamp }) => ({ id, timestamp }))).toEqual(
      before.map(({ id, timestamp }) => ({ id, timestamp })),
    );
  });

  it('reports one late slot, under its original time, after no process was running for a while', async () => {
    const { schedule, reported: toldBefore } = await start(everySecond);
    await waitForSlots(toldBefore, 1);
    await schedule.close();
    const closedAt = Date.now();
    await vi.waitUntil(() => Date.now() > closedAt + 3_000, { timeout: patienceMs });
    const backAt = Date.now();
    const { reported } = await start(everySecond);
    await waitForSlots(reported, 2);
    expect(reported[0]?.getTime()).toBeLessThan(backAt - 1_000);
    expect(reported[1]?.getTime()).toBeGreaterThan(backAt - 1_000);
  });

  it('starts while Redis is unavailable, reports that once, and sets its schedule when Redis is back', async () => {
    await redis.kill();
    const { reported } = await start(everySecond);
    expect(troubles).toHaveLength(1);
    await redis.startAgain({ empty: true });
    await waitForSlots(reported, 1);
  });

  it('closes while Redis is gone, and stops reconnecting', async () => {
    const { schedule, reported } = await start(everySecond);
    await waitForSlots(reported, 1);
    await redis.kill();
    await vi.waitUntil(() => troubles.length > 0, { timeout: patienceMs });
    await schedule.close();
    await redis.startAgain({ empty: true });
    connections.length = 0;
    // Long enough for a connection that still calls to come through.
    const other = await start(everySecond);
    await waitForSlots(other.reported, 3);
    const list = await redis.ask((client) => client.client('LIST'));
    expect(String(list).trim().split('\n')).toHaveLength(connections.length + 1);
  });

  it('closes while Redis hangs', async () => {
    const { schedule, reported } = await start(everySecond);
    await waitForSlots(reported, 1);
    await redis.freeze();
    await schedule.close();
    redis.thaw();
    await vi.waitUntil(() => connections.every(({ status }) => status === 'end'), { timeout: patienceMs });
  });

  it('stores nothing in Redis but its own pattern and zone', async () => {
    const { reported } = await start(everySecond);
    await waitForSlots(reported, 2);
    const [jobs, counts] = await ask((queue) =>
      Promise.all([queue.getDelayed(), queue.getJobCounts('completed', 'failed')]),
    );
    expect(counts).toEqual({ completed: 0, failed: 0 });
    expect(jobs.map(({ name, data }) => ({ name, data }))).toEqual([{ name: 'slot', data: {} }]);
  });
});
