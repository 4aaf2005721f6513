import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashReference } from '../../src/booking/booking.js';
import { blankNames } from '../../src/booking/stored-line.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { planBatches } from '../../src/rules/batch-plan.js';
import { applyEvidence, resolveBookings, toDecision } from '../../src/rules/case-transitions.js';
import type { Run } from '../../src/rules/run.js';
import {
  at,
  batchSize,
  chunkOf,
  claimStep,
  halved,
  lineOf,
  newRun,
  record,
  refused,
  rightOf,
  startCollect,
  toLines,
} from '../contracts/ledger/days.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

const batches = 24;
const dayMs = 86_400_000;

/** A name that occurs nowhere else, in a booking, a reject or the service's words about one. */
const canary = (run: string, what: string, number: number) => `Canary-${run}-${what}-${number}-`;

describe('what SQLite leaves in its files of names that were removed', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
  });
  afterEach(() => opened.cleanUp());

  it('is nothing, in the file and its WAL, of halved, refused, replayed and late runs', async () => {
    const { ledger } = opened;
    const days = ['2026-09-01', '2026-09-02', '2026-09-03', '2026-09-04'] as const;
    const replayed = await ledger.runs.create(
      newRun('replayed', { day: days[0], startedAt: Date.parse(days[0]) }),
    );
    await collectCanaries(ledger, replayed);
    await performSome(ledger, [replayed]);
    const names = ['replay', 'halved', 'late', 'young'] as const;
    const runs: Run[] = [];
    for (const [place, id] of names.entries()) {
      const day = days[place] ?? '';
      const replaces = id === 'replay' ? { replaces: 'replayed' } : {};
      runs.push(await ledger.runs.create(newRun(id, { day, startedAt: Date.parse(day), ...replaces })));
    }
    // Days that are reviewed at the same time share pages.
    await Promise.all(runs.map((run) => collectCanaries(ledger, run)));
    await performSome(ledger, runs);
    for (const run of runs) {
      if (run.id === 'late') continue;
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: Date.parse(run.day) + dayMs });
    }
    const found = () => ['replayed', ...names].filter((id) => countText(`Canary-${id}-`) > 0);
    expect(found()).toEqual(['replayed', ...names]);
    // One day a night, as retention does it.
    for (const day of days.slice(1)) await ledger.guests.blankNames(day, blankNames);
    // A rewrite would keep the steps of a run waiting, as long as somebody performs them.
    const hold = await ledger.holds.day('2026-09-03');
    expect(await ledger.guests.clearRemains()).toEqual({
      why: 'the run of 2026-09-03 is being worked on',
      until: 'the clean-up after it, or guest purge then',
    });
    await hold?.release();
    expect(await ledger.guests.clearRemains()).toBeUndefined();
    expect(found()).toEqual(['young']);
    expect(opened.openRaw().all('PRAGMA integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
    expect((await ledger.bookings.readBatch('young', 'posted', batches - 1)).toString()).toContain(
      canary('young', 'booking', batches * batchSize - 1),
    );
  });

  it('is nothing of references in cases, the audit trail and rejected records, after bookings were erased', async () => {
    const { ledger } = opened;
    const run = await ledger.runs.create(newRun('r1'));
    await collectCanaries(ledger, run);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
    const references = await keepReferences(ledger);
    await ledger.guests.eraseBookings('r1', () => ({ rows: [0] }));
    expect(countText('Canary-gone-')).toBeGreaterThan(references.length);
    for (const reference of references) {
      await ledger.cases.eraseNotes(reference);
      await ledger.audit.replaceSubject(reference, 'erased:1');
      await ledger.cases.eraseReference(reference);
    }
    expect(await ledger.guests.clearRemains()).toBeUndefined();
    expect(countText('Canary-gone-')).toBe(0);
    expect(opened.openRaw().all('PRAGMA integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  });

  describe('while something prevents a rewrite', () => {
    /** A ledger from which data was removed that is still in its files. */
    async function removeSome(): Promise<Ledger> {
      const { ledger } = opened;
      const run = await ledger.runs.create(
        newRun('old', { day: '2026-09-01', startedAt: Date.parse('2026-09-01') }),
      );
      await collectCanaries(ledger, run);
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: Date.parse('2026-09-02') });
      await ledger.guests.blankNames('2026-12-01', blankNames);
      expect(countText('Canary-old-')).toBeGreaterThan(0);
      return ledger;
    }

    it('says so to a process that does not do the checkpoints; the one that does clears it when it stops', async () => {
      const ledger = await removeSome();
      const other = await opened.reopen();
      expect(await other.guests.clearRemains()).toEqual({
        why: 'another process, such as serve, has the ledger open',
        until: 'that process cleans up after its next run, or stops',
      });
      expect(countText('Canary-old-')).toBeGreaterThan(0);
      await ledger.close();
      expect(countText('Canary-old-')).toBe(0);
      expect(await other.guests.clearRemains()).toBeUndefined();
    });

    it('does nothing while somebody reads, and does it afterwards', async () => {
      const ledger = await removeSome();
      const reader = opened.openRaw();
      reader.exec('BEGIN');
      reader.get('SELECT count(*) AS runs FROM runs');
      expect(await ledger.guests.clearRemains()).toMatchObject({
        why: 'another process was using the ledger',
      });
      reader.exec('COMMIT');
      expect(await ledger.guests.clearRemains({ atMostBytes: 1 })).toMatchObject({
        why: expect.stringContaining('would keep others waiting'),
      });
      expect(await ledger.guests.clearRemains()).toBeUndefined();
      expect(countText('Canary-old-')).toBe(0);
    });
  });

  /** How often a text occurs in the file and its log, as they are: nothing is checkpointed for it. */
  function countText(text: string): number {
    return [opened.path, `${opened.path}-wal`]
      .map((path) => (existsSync(path) ? readFileSync(path, 'latin1').split(text).length - 1 : 0))
      .reduce((one, other) => one + other);
  }
});

/**
 * Keeps references in a case, with notes, and in the audit trail, in an order in which SQLite moves many of them to other
 * pages. Returns some of them, which are written in another way.
 */
async function keepReferences({ cases, audit }: Ledger): Promise<string[]> {
  const references = Array.from({ length: 400 }, (_, index) =>
    canary(index % 20 === 0 ? 'gone' : 'kept', 'reference', (index * 171) % 400),
  );
  const key = { providerName: 'hotelbeds', providerHotelId: '1', serviceId: 7 };
  const evidence = { origin: 'affected', at, references: new Set<string>(), isBookedInCopy: true } as const;
  const day = '2026-09-01';
  for (let from = 0; from < references.length; from += 20) {
    const stays = references.slice(from, from + 20).map((reference) => ({ reference, day }));
    await cases.changeByKey([key], (held) => {
      const next = applyEvidence(held, { ...evidence, stays }, at);
      return next && toDecision(held, next, []);
    });
    await cases.changeById([1], (held) => {
      const places = new Set([from + 1]);
      const note = canary('gone', 'note', from);
      return toDecision(held, resolveBookings(held, { places, as: 'rebooked', note }, at), []);
    });
    const actions = references.slice(from, from + 20);
    for (const subject of actions)
      await audit.record({ at: Date.parse(day), who: 'ana', action: 'show', subject });
  }
  return references.filter((reference) => reference.includes('-gone-'));
}

/** Small and large batches: some share a page, others fill many. */
async function collectCanaries(ledger: Ledger, run: Run): Promise<void> {
  const collect = await startCollect(ledger, run);
  for (let number = 0; number < batches; number += 1) {
    const lines = Array.from({ length: batchSize }, (_, place) => {
      const name = canary(run.id, 'booking', number * batchSize + place);
      return lineOf(`BR-${number}-${place}`, name.repeat(1 + ((number * 7) % 60)));
    });
    const references = lines.map((_, place) => hashReference(`BR-${number}-${place}`));
    await collect.store(
      chunkOf({
        batches: [{ stream: 'posted', number, referenceHashes: references, lines: toLines(lines) }],
        rejects: [{ place: number, reason: 'wrong-cell-count', value: canary(run.id, 'reject', number) }],
      }),
    );
  }
  await collect.finish({
    steps: planBatches(batches * batchSize, batchSize),
    at: Date.parse(run.day) + 1_000,
  });
}

/** Halves, refuses and retries, with messages of the service that name guests; the steps of the runs in turn. */
async function performSome(ledger: Ledger, runs: readonly Run[]): Promise<void> {
  for (let number = 0; number < batches; number += 1) {
    // Halves of earlier steps are inserted between rows that are there already.
    const batch = `batch ${(number * 17) % batches}`;
    for (const run of runs) {
      const say = (what: string, size: number) => canary(run.id, what, number).repeat(size);
      const end = async (step: string, size: number) =>
        record(
          ledger,
          await claimStep(ledger, run, step),
          { ...refused, evidence: { code: 'code-2009', answer: say(step.replaceAll(' ', ''), size) } },
          at,
        );
      const claim = await claimStep(ledger, run, batch);
      await record(
        ledger,
        claim,
        { ...halved, evidence: { ...halved.evidence, answer: say('whole', 12) } },
        at,
      );
      await end(`${batch}.0`, 1 + (number % 25));
      const other = await claimStep(ledger, run, `${batch}.1`);
      await record(
        ledger,
        other,
        { ...halved, evidence: { ...halved.evidence, answer: say('half', 5) } },
        at,
      );
      await end(`${batch}.1.0`, 30);
      await end(`${batch}.1.1`, 2);
    }
  }
}
