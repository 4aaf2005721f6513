import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rules } from '../../jobs/rules.js';
import { createPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import type { Trigger } from '../../src/ledger/run.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { createBullmqQueue } from '../../src/queue/bullmq.js';
import { createInProcessQueues } from '../../src/queue/in-process.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { type Engine, listDays, prepareTriggers } from './triggers.js';

/** Each order with each gap; many times in the nightly suite. */
const rounds = isNightly ? 100 : 12;
/** Each of the three comes first, second and last in turn. */
const orders: readonly (readonly Trigger[])[] = [
  ['schedule', 'hook', 'manual'],
  ['hook', 'manual', 'schedule'],
  ['manual', 'schedule', 'hook'],
];
/**
 * Milliseconds between one and the next; without any the command comes first, as it has the shortest path. After the
 * longest gap the first trigger has its run even on a busy machine.
 */
const gaps = [0, 1, 3, 10, 300];
const clock = Date.now;

describe('schedule, hook and command at the same moment', () => {
  describe('in one process and a command, on SQLite', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
    });
    afterAll(() => rm(folder, { recursive: true }));

    it('make one run of each day, in every round', async () => {
      await expectOneRunEach({
        isShared: false,
        openLedger: () => createSqliteLedger({ path: join(folder, 'ledger.db'), rules, clock }),
        openQueue: () => createInProcessQueues({ concurrency: 2, clock })(),
      });
    }, 150_000);
  });

  describe('on PostgreSQL and Redis', () => {
    const redis = useRedis();
    const postgres = usePostgres();

    it('make one run of each day, in every round', async () => {
      const url = await postgres().createDatabase();
      await expectOneRunEach({
        isShared: true,
        openLedger: () => createPostgresLedger({ url, rules, clock }),
        openQueue: () => createBullmqQueue({ url: redis().url, concurrency: 2, clock, onNotice: () => {} }),
      });
    }, 150_000);
  });
});

async function expectOneRunEach(engine: Engine): Promise<void> {
  const { ledger, sent, faults, pull } = await prepareTriggers(engine);
  const days = listDays('2026-01-10', rounds);
  const triggers = new Map<Trigger, number>();
  for (const [round, day] of days.entries()) {
    const { hookStatus } = await pull(
      day,
      orders[round % orders.length] ?? [],
      gaps[round % gaps.length] ?? 0,
    );
    expect(faults).toEqual([]);
    expect(hookStatus).toBe(202);
    await vi.waitUntil(async () => (await ledger.runs.latest(day.iso))?.state === 'succeeded', {
      timeout: patienceMs,
      interval: 5,
    });
    const runs = await ledger.runs.list({ day: day.iso, limit: 9 });
    expect(runs).toMatchObject([{ day: day.iso, counts: { delivered: 6, repeated: 0 } }]);
    for (const { trigger } of runs) triggers.set(trigger, (triggers.get(trigger) ?? 0) + 1);
  }
  expect(Object.fromEntries(sent)).toEqual(Object.fromEntries(days.map(({ iso }) => [iso, 6])));
  expect(await ledger.runs.list({ limit: 2 * rounds })).toHaveLength(rounds);
  // Different triggers came first, so they did compete.
  expect(triggers.size).toBeGreaterThan(1);
  expect(faults).toEqual([]);
}
