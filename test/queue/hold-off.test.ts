import type { Queue } from 'bullmq';
import RedisMock from 'ioredis-mock';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { holdOffAllWorkers } from '../../src/queue/bullmq-jobs.js';

const key = 'hotel-review:steps:limiter';
const queue = { toKey: (name: string) => `hotel-review:steps:${name}` } as Queue;

let client: InstanceType<typeof RedisMock>;
beforeEach(() => {
  client = new RedisMock();
});
afterEach(async () => {
  await client.flushall();
  client.disconnect();
});

/** Rounded up: time passes between the two calls. */
const secondsLeft = async () => Math.ceil((await client.pttl(key)) / 1_000);

it('reports whether it starts a hold-off or one is already in force', async () => {
  expect(await holdOffAllWorkers(client, queue, 5_000)).toBe(true);
  expect(await holdOffAllWorkers(client, queue, 60_000)).toBe(false);
  expect(await holdOffAllWorkers(client, queue, 1_000)).toBe(false);
});

it('fills the counter of the rate limit, so that no worker takes a job', async () => {
  await holdOffAllWorkers(client, queue, 5_000);
  expect(await client.get(key)).toBe(String(Number.MAX_SAFE_INTEGER));
  expect(await secondsLeft()).toBe(5);
});

it('does not replace a longer hold-off by a shorter one', async () => {
  await holdOffAllWorkers(client, queue, 60_000);
  await holdOffAllWorkers(client, queue, 1_000);
  expect(await secondsLeft()).toBe(60);
});

it('replaces a shorter hold-off by a longer one', async () => {
  await holdOffAllWorkers(client, queue, 1_000);
  await holdOffAllWorkers(client, queue, 60_000);
  expect(await secondsLeft()).toBe(60);
});

it('replaces the count of an ordinary rate limit, however long it lasts', async () => {
  await client.set(key, '3', 'PX', 60_000);
  await holdOffAllWorkers(client, queue, 5_000);
  expect(await client.get(key)).toBe(String(Number.MAX_SAFE_INTEGER));
  expect(await secondsLeft()).toBe(5);
});
