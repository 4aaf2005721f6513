import { setTimeout as wait } from 'node:timers/promises';
import { type Job, type JobSchedulerJson, Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { readRedisTls } from '../queue/redis-connection.js';
import type { Schedule } from './schedule.js';
import { createSlots, type Slots } from './slots.js';

const queueName = 'hotel-review-schedule';
const schedulerId = 'nightly';
/** How long starting and closing wait for a Redis that doesn't answer. */
const patienceMs = 2_000;

export interface BullmqScheduleOptions {
  readonly slots: Slots;
  /** Opens a connection with `maxRetriesPerRequest: null`; the schedule closes it. */
  readonly connect: () => Redis;
  /** Called once when Redis can't be reached or refuses, and again only after the schedule was back in place. */
  readonly onTrouble: (error: unknown) => void;
  /** How often to check that Redis still has the schedule. */
  readonly checkMs?: number;
}

/**
 * The schedule of any number of processes, kept by BullMQ's job scheduler on Redis: each slot reaches one of them.
 *
 * At each check, every process puts back what Redis has lost. A pattern or zone that was changed in the configuration replaces
 * the old one; processes with different configurations replace each other's. After missed slots only the first one is
 * reported, late; a slot that Redis lost, or that passed while it was away, is not reported.
 */
export function createBullmqSchedule(options: BullmqScheduleOptions): Schedule {
  const { slots, connect, onTrouble, checkMs = 60_000 } = options;
  const stopping = new AbortController();
  let opened:
    | { readonly connections: RedisConnections; readonly queue: Queue; readonly worker: Worker }
    | undefined;
  let closing: Promise<void> | undefined;
  let isTroubled = false;

  function report(error: unknown): void {
    if (isTroubled || stopping.signal.aborted) return;
    isTroubled = true;
    onTrouble(error);
  }

  function open(onSlot: (slot: Date) => void): Queue {
    const connections = openRedisConnections(connect, report);
    const shared = {
      connection: connections.first,
      prefix: 'hotel-review',
      settings: { repeatStrategy: nextSlotMs },
    };
    const queue = new Queue(queueName, shared);
    const reportSlot = async (job: Job) => {
      const slot = slotOf(job);
      if (slot && !stopping.signal.aborted) onSlot(slot);
    };
    const kept = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
    const worker = new Worker(queueName, reportSlot, { ...shared, ...kept });
    queue.on('error', report);
    worker.on('error', report);
    opened = { connections, queue, worker };
    return queue;
  }

  async function keepInPlace(queue: Queue): Promise<void> {
    while (!stopping.signal.aborted) {
      await wait(checkMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await putInPlace(queue);
    }
  }

  async function putInPlace(queue: Queue): Promise<void> {
    try {
      if (!(await isInPlace(queue, slots))) {
        const repeat = { pattern: slots.pattern, tz: slots.zone };
        await queue.upsertJobScheduler(schedulerId, repeat, { name: 'slot' });
      }
      isTroubled = false;
    } catch (error) {
      report(error);
    }
  }

  async function close(): Promise<void> {
    stopping.abort();
    if (!opened) return;
    const { connections, queue, worker } = opened;
    await waitPatiently(Promise.allSettled([worker.close(true), queue.close()]));
    connections.end();
  }

  return {
    async start(onSlot) {
      const queue = open(onSlot);
      const first = putInPlace(queue);
      void first.then(() => keepInPlace(queue));
      await waitPatiently(first);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Waits at most `patienceMs`. */
async function waitPatiently(settled: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  const patience = wait(patienceMs, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([settled, patience]);
  enough.abort();
}

/** False also where the scheduler exists without the job of its next slot: no other job would follow. */
async function isInPlace(queue: Queue, { pattern, zone }: Slots): Promise<boolean> {
  const kept: JobSchedulerJson | undefined = await queue.getJobScheduler(schedulerId);
  if (kept?.pattern !== pattern || kept.tz !== zone || kept.next === undefined) return false;
  return (await queue.getJob(`repeat:${schedulerId}:${kept.next}`)) !== undefined;
}

/** The same slots as everywhere else, instead of those of BullMQ's own cron library. */
function nextSlotMs(afterMs: number, { pattern, tz }: { pattern?: string; tz?: string }): number | undefined {
  if (pattern === undefined || tz === undefined) return undefined;
  return createSlots(pattern, tz).next(new Date(afterMs))?.getTime();
}

/** A job that runs late still carries the slot it was made for. */
function slotOf({ opts }: Job): Date | undefined {
  const { prevMillis } = opts;
  return prevMillis === undefined ? undefined : new Date(prevMillis);
}

/** @param url `redis://` or `rediss://` */
export function connectorTo({
  url,
  ca,
}: {
  readonly url: string;
  readonly ca?: string | undefined;
}): () => Redis {
  const tls = readRedisTls(ca);
  return () => new Redis(url, { ...tls, maxRetriesPerRequest: null });
}

/** A connection and every duplicate made of it. */
export interface RedisConnections {
  readonly first: Redis;
  /** Closes them all, and every one that is reopened later. */
  end(): void;
}

/**
 * BullMQ duplicates the connection that it is given, and in an outage it may reopen one that was closed before: that one would
 * try to reconnect forever and keep the process alive. So this keeps track of the duplicates.
 */
export function openRedisConnections(
  connect: () => Redis,
  onError: (error: Error) => void,
): RedisConnections {
  const connections: Redis[] = [];

  function track(connection: Redis): Redis {
    connections.push(connection);
    connection.on('error', onError);
    const duplicate = connection.duplicate.bind(connection);
    connection.duplicate = (override?: Partial<RedisOptions>) => track(duplicate(override));
    return connection;
  }

  return {
    first: track(connect()),
    end() {
      for (const connection of connections) {
        connection.options.retryStrategy = () => null;
        connection.on('connect', () => connection.disconnect());
        connection.disconnect();
      }
    },
  };
}
