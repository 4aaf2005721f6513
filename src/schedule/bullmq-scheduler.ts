import { setTimeout as wait } from 'node:timers/promises';
import { type Job, type JobSchedulerJson, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { openRedisConnections, type RedisConnections } from './redis-connections.js';
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
  /** Told once when Redis goes away or refuses, and again only after the schedule was seen in place. */
  readonly onTrouble: (error: unknown) => void;
  /** How often it is looked whether Redis still has the schedule. */
  readonly checkMs?: number;
}

/**
 * The schedule of any number of processes, kept by BullMQ's job scheduler on Redis: each slot reaches one of them.
 *
 * What Redis forgot is put back at the next check, by every process; a pattern or zone that was changed in the
 * configuration replaces the old one. Processes that are configured differently replace each other's. After missed slots
 * the first one comes late, alone; a slot that Redis forgot, or that passed while it was away, is not told.
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
    const tell = async (job: Job) => {
      const slot = slotOf(job);
      if (slot && !stopping.signal.aborted) onSlot(slot);
    };
    const kept = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
    const worker = new Worker(queueName, tell, { ...shared, ...kept });
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

/** Waits for it, but not for longer than one's patience lasts. */
async function waitPatiently(settled: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  const patience = wait(patienceMs, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([settled, patience]);
  enough.abort();
}

/** False also where the scheduler is there, and the job for its next slot is not: no other one would follow. */
async function isInPlace(queue: Queue, { pattern, zone }: Slots): Promise<boolean> {
  const kept: JobSchedulerJson | undefined = await queue.getJobScheduler(schedulerId);
  if (kept?.pattern !== pattern || kept.tz !== zone || kept.next === undefined) return false;
  return (await queue.getJob(`repeat:${schedulerId}:${kept.next}`)) !== undefined;
}

/** The same slots as everywhere else, in place of those of BullMQ's own cron library. */
function nextSlotMs(afterMs: number, { pattern, tz }: { pattern?: string; tz?: string }): number | undefined {
  if (pattern === undefined || tz === undefined) return undefined;
  return createSlots(pattern, tz).next(new Date(afterMs))?.getTime();
}

/** A job that comes late is still named after the slot that it is for. */
function slotOf({ opts }: Job): Date | undefined {
  const { prevMillis } = opts;
  return prevMillis === undefined ? undefined : new Date(prevMillis);
}
