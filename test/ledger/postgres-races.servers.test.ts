import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { versions } from '../../src/ledger/postgres/schema.js';
import type { Claim } from '../../src/rules/step.js';
import {
  at,
  claimStep,
  collectedRun,
  day,
  done,
  look,
  newRun,
  openNames,
  record,
  references,
  rightOf,
} from '../contracts/ledger/days.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

describe('several processes on one PostgreSQL ledger', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  beforeEach(async () => {
    opened = await openPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  it('create it together: eight that find an empty database all continue', async () => {
    const ledgers = Array.from({ length: 8 }, () => opened.open());
    const runs = await Promise.all(
      ledgers.map((ledger, index) =>
        ledger.runs.create(newRun(`r${index}`, { day: `2026-11-0${index + 1}` })),
      ),
    );
    expect(runs.map(({ id }) => id)).toEqual(ledgers.map((_, index) => `r${index}`));
    expect(await opened.query('SELECT number FROM hotel_review.schema_versions')).toEqual(
      versions.map((_, index) => ({ number: index + 1 })),
    );
  });

  it('never claim the same step, however many they request at once', async () => {
    const run = await collectedRun(opened.ledger, 'r1', { bookings: references(800) });
    const workers = [opened.open(), opened.open()];
    const steps = await openNames(opened.ledger, 'r1');
    expect(steps).toHaveLength(200);
    const claims = await Promise.all(
      steps.flatMap((step) => workers.map((worker) => worker.steps.claim(rightOf(run), step, 1, at))),
    );
    const won = claims.filter((claim) => claim !== undefined).map(({ step }) => step.name);
    expect(won.toSorted()).toEqual(steps.toSorted());
    expect((await opened.ledger.runs.tally('r1')).openSteps).toBe(200);
  });

  it('record concurrently, and exactly one of them sees the last step end', async () => {
    const workers = [opened.open(), opened.open(), opened.open(), opened.open()];
    for (let round = 0; round < 20; round += 1) {
      const run = await collectedRun(opened.ledger, `r${round}`, {
        day: `2026-10-${round + 10}`,
        bookings: references(16),
      });
      const recorded = await Promise.all(
        workers.map(async (worker, index) => {
          const claim = await claimStep(worker, run, `batch ${index}`);
          return record(worker, claim, done, at);
        }),
      );
      const left = recorded.map((each) => each.run.openSteps).toSorted();
      expect(left).toEqual([0, 1, 2, 3]);
      expect((await opened.ledger.runs.get(run.id)).counts).toMatchObject({ delivered: 16, pending: 0 });
    }
  });

  it('settle concurrently, and one of them succeeds', async () => {
    const workers = [opened.open(), opened.open()];
    for (let round = 10; round < 30; round += 1) {
      const run = await collectedRun(opened.ledger, `r${round}`, { day: `2026-10-${round}` });
      const settled = await Promise.all(
        workers.map((worker) => worker.runs.settle(rightOf(run), { state: 'succeeded', at })),
      );
      expect(settled.toSorted()).toEqual([false, true]);
    }
  });

  it('never renew a claim that another process has reopened', async () => {
    const [owner, other] = [opened.open(), opened.open()];
    const run = await collectedRun(opened.ledger, 'r1', { bookings: references(160) });
    for (const step of await openNames(opened.ledger, 'r1')) {
      const claim = await claimStep(owner, run, step);
      await opened.endLeases();
      const [outdated, count] = await Promise.all([
        owner.steps.renewClaims([claim]),
        other.steps.reopenAbandoned('r1'),
      ]);
      expect(outdated).toHaveLength(count);
      expect(await owner.steps.holdsClaim(claim)).toBe(count === 0);
      if (count === 0) await record(owner, claim, done, at);
    }
  });

  it('fence a process that records while another takes the run over: one of the two comes first', async () => {
    const [owner, other] = [opened.open(), opened.open()];
    for (let round = 10; round < 30; round += 1) {
      const run = await collectedRun(opened.ledger, `r${round}`, {
        day: `2026-10-${round}`,
        bookings: references(4),
      });
      const claim = await claimStep(owner, run, 'batch 0');
      const [recorded, taken] = await Promise.allSettled([
        record(owner, claim, done, at),
        other.runs.takeOver(run.id),
      ]);
      expect(taken.status).toBe('fulfilled');
      const { run: after, tally, open } = await look(opened.ledger, run.id);
      const isDone = recorded.status === 'fulfilled';
      expect(after.counts.delivered).toBe(isDone ? 4 : 0);
      expect(tally.delivered).toBe(after.counts.delivered);
      expect(open).toEqual(isDone ? [] : [{ position: 0, name: 'batch 0', attempt: 2 }]);
    }
  });

  it('claim no step under the old token while another takes the run over', async () => {
    const [owner, other] = [opened.open(), opened.open()];
    const run = await collectedRun(opened.ledger, 'r1', { bookings: references(160) });
    let token = run.token;
    for (const step of await openNames(opened.ledger, 'r1')) {
      const [claim, taken] = await Promise.all([
        owner.steps.claim({ runId: 'r1', token }, step, 1, at),
        other.runs.takeOver('r1'),
      ]);
      const open = await opened.ledger.steps.listOpen('r1', { limit: 100 });
      expect(open.find(({ name }) => name === step)?.attempt).toBe(claim ? 2 : 1);
      token = taken.token;
    }
  });

  it('never hold the same day, or more slots than there are', async () => {
    const workers = Array.from({ length: 4 }, () => opened.open());
    for (let round = 0; round < 20; round += 1) {
      const holds = await Promise.all(workers.map((worker) => worker.holds.day(day)));
      const permits = await Promise.all(workers.map((worker) => worker.holds.permit(3)));
      expect(holds.filter((hold) => hold !== undefined)).toHaveLength(1);
      expect(permits.filter((hold) => hold !== undefined)).toHaveLength(3);
      await Promise.all([...holds, ...permits].map((hold) => hold?.release()));
    }
  });

  it('work on many runs concurrently without blocking each other', async () => {
    const workers = [opened.open(), opened.open()];
    const days = Array.from({ length: 6 }, (_, index) => `2026-10-1${index}`);
    const runs = await Promise.all(
      days.map((each) => collectedRun(opened.ledger, each, { day: each, bookings: references(40) })),
    );
    const held = new Set<Claim>();
    await Promise.all(
      workers.flatMap((worker, part) =>
        runs.map(async (run) => {
          for (let batch = part; batch < 10; batch += 2) {
            const claim = await claimStep(worker, run, `batch ${batch}`);
            held.add(claim);
            // Some of the others are recorded by then.
            expect(await worker.steps.renewClaims([...held])).not.toContain(claim);
            held.delete(claim);
            await record(worker, claim, done, at);
          }
        }),
      ),
    );
    for (const run of runs) expect((await opened.ledger.runs.get(run.id)).openSteps).toBe(0);
  });
});
