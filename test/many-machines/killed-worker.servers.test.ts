import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { freeze } from '../support/processes.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import {
  batchSize,
  expectCompleted,
  type Machines,
  prepareMachines,
  readDelivered,
  stepsPerProcess,
  until,
} from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

describe('one of two workers', () => {
  it('is killed in mid-batch: the other one sends what was in flight, and nothing that was recorded', async () => {
    const { machines, release } = await prepareHeldWorker();
    const first = await machines.startWorker();
    await machines.standIn.received(stepsPerProcess);
    const second = await machines.callWorker();
    await machines.database.until(({ done }) => done >= 5);

    const before = await readDelivered(machines);
    expect(await machines.database.run()).toMatchObject({ state: 'delivering' });
    first.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');

    const { counts } = await expectCompleted(machines, { before: [before] });
    expect(counts.repeated).toBe(stepsPerProcess * batchSize);
    expect(second.hasEnded).toBe(false);
    release();
  });

  it.each(['answered meanwhile', 'not answered yet'] as const)(
    'is frozen past its lease: when it thaws, %s, it records nothing of what the other one has done',
    async (service) => {
      const { machines, release } = await prepareHeldWorker();
      const first = await machines.startWorker();
      await machines.standIn.received(stepsPerProcess);
      await freeze(first);
      const before = await readDelivered(machines);
      await machines.callWorker();
      const { counts } = await expectCompleted(machines, { before: [before] });
      expect(counts.repeated).toBe(stepsPerProcess * batchSize);

      const steps = await machines.database.query('SELECT * FROM hotel_review.steps ORDER BY position');
      const attempts = await machines.database.query(
        'SELECT * FROM hotel_review.attempts ORDER BY step, attempt',
      );
      if (service === 'answered meanwhile') release();
      first.kill('SIGCONT');
      await first.wrote('superseded');
      release();
      expect(await machines.database.query('SELECT * FROM hotel_review.steps ORDER BY position')).toEqual(
        steps,
      );
      expect(
        await machines.database.query('SELECT * FROM hotel_review.attempts ORDER BY step, attempt'),
      ).toEqual(attempts);
      await expectCompleted(machines, { before: [before] });
      expect(first.hasEnded).toBe(false);
    },
  );
});

describe('a `run` that is frozen in mid-collect past its lease', () => {
  it('stores nothing when it thaws, joins what another one has collected, and ends with its run', async () => {
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 7_000,
      settings: {
        source: { kind: 'module', path: 'bookings.mjs' },
        body: { batchSize: 1_000 },
        // The `run` that takes over must keep its right even on a busy machine.
        workers: { leaseSeconds: 6 },
      },
    });
    const place = machines.folder.path;
    await writeFile(join(place, 'bookings.json'), JSON.stringify(machines.bookings));
    // It yields the last ones once the test allows it: more than one transaction stores came before.
    await writeFile(
      join(place, 'bookings.mjs'),
      `import { existsSync, readFileSync } from 'node:fs';
       export async function* bookings() {
         const all = JSON.parse(readFileSync(new URL('bookings.json', import.meta.url)));
         yield all.slice(0, 6_000);
         while (!existsSync(new URL('rest-allowed', import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 5));
         yield all.slice(6_000);
       }`,
    );
    const first = machines.folder.start(['run', '--day', day, '--json']);
    await machines.database.until(({ read }) => read > 0);
    await freeze(first);
    expect(await machines.database.run()).toMatchObject({ state: 'collecting', token: 1 });
    await writeFile(join(place, 'rest-allowed'), '');
    await expectOtherRunInstead(machines, first);
  });

  it('while it stores bookings: the other one gets the lock that the frozen one had', async () => {
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 4_000,
      settings: { body: { batchSize: 500 } },
    });
    const proxy = await startTcpProxy(postgres().port);
    onTestFinished(() => proxy.stop());
    const ledger = postgres().overTcp(machines.database.url, { port: proxy.port });
    await machines.folder.configure({ ledger });
    const first = machines.folder.start(['run', '--day', day, '--json']);
    const frozen = createGate();
    proxy.beforePassing((to, chunk) => {
      if (to === 'server' || !asksForRows(chunk)) return undefined;
      return freeze(first).then(frozen.open);
    });
    await frozen.passed;
    proxy.heal();
    expect(await machines.database.run()).toMatchObject({ state: 'collecting', token: 1 });
    await machines.folder.configure({});
    await expectOtherRunInstead(machines, first);
  });
});

/** Another `run` takes over and completes the day; when the frozen one thaws, it ends with the other's run. */
async function expectOtherRunInstead(machines: Machines, frozen: RunningCommand): Promise<void> {
  const second = await machines.folder.runDay();
  expect(second).toMatchObject({ exitCode: 0 });
  frozen.kill('SIGCONT');
  const thawed = await frozen.ended;
  // What it finds when it thaws is done already.
  expect(thawed).toMatchObject({ exitCode: 0 });
  expect(thawed.report).toMatchObject({ runId: second.report.runId, state: 'succeeded' });
  const { counts } = await expectCompleted(machines);
  expect(counts.repeated).toBe(0);
  expect(await machines.database.run()).toMatchObject({ token: 2 });
}

/** Whether a chunk from PostgreSQL contains its request for the rows of a COPY, a CopyInResponse. */
function asksForRows(chunk: Buffer): boolean {
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1))
    if (chunk[at] === 'G'.charCodeAt(0)) return true;
  return false;
}

/** The service holds the first batches: the worker that is started first has these in flight, and no others. */
async function prepareHeldWorker(): Promise<{ machines: Machines; release: () => void }> {
  const gate = createGate();
  const machines = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 200,
    async handler(request, number) {
      await request.readBody();
      if (number <= stepsPerProcess) await gate.passed;
      return success;
    },
  });
  await machines.detach();
  await until(async () => (await machines.database.run())?.state === 'delivering');
  return { machines, release: gate.open };
}
