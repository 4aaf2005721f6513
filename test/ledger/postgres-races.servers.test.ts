import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { versions } from '../../src/ledger/postgres/postgres-ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  look,
  newRun,
  openNames,
  record,
  references,
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

  it('renew claims while other work has all their usual connections', async () => {
    const owner = opened.open({ connections: 2 });
    const claim = await claimStep(owner, await collectedRun(opened.ledger, 'r1'), 'batch 0');
    await opened.query('BEGIN; LOCK TABLE hotel_review.rejects');
    const counting = owner.rejects.count('r1');
    const renewing = owner.steps.renewClaims([claim]);
    const first = Promise.race([counting.then(() => 'counted'), renewing.then(() => 'renewed')]);
    expect(await first).toBe('renewed');
    expect(await renewing).toEqual([]);
    await opened.query('ROLLBACK');
    expect(await counting).toEqual([]);
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
});
