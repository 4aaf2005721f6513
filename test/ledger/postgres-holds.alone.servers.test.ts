import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Hold } from '../../src/base/abort.js';
import { blankNames } from '../../src/booking/stored-line.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { type ClockDifference, findOffset } from '../../src/transports/http/peer-clocks.js';
import { at, claimStep, collectedRun, day, newRun, record, rightOf } from '../contracts/ledger/days.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres } from '../support/use-servers.js';
import { type Child, startChild } from './child.js';
import { type OpenedPostgresLedger, openPostgresLedger } from './opened-postgres.js';

const leaseMs = 1_500;

describe('a day that is held in PostgreSQL', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  const children: Child[] = [];
  beforeEach(async () => {
    opened = await openPostgresLedger(postgres(), { leaseMs });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await child.kill();
    await opened.cleanUp();
  });

  /** Another process that holds the day, and prints when it has lost it. */
  async function startHolder(): Promise<Child> {
    const child = startChild(
      `const { createPostgresLedger } = await import(built + '../postgres/postgres-ledger.js');
       const ledger = createPostgresLedger({ url: ${JSON.stringify(opened.url)},
         clock: Date.now, leaseMs: ${leaseMs} });
       const hold = await ledger.holds.day('${day}');
       const run = await ledger.runs.create(${JSON.stringify(newRun('r1'))});
       hold.lost.addEventListener('abort', async () => {
         console.log('lost');
         const late = await ledger.runs.settle({ runId: 'r1', token: run.token }, { state: 'succeeded', at: 1 })
           .catch((error) => error.name);
         console.log(late);
       });
       console.log('held');`,
    );
    children.push(child);
    await child.printed('held');
    return child;
  }

  async function takenIn(ledger: Ledger): Promise<Hold> {
    return vi.waitUntil(() => ledger.holds.day(day), { interval: 20, timeout: patienceMs });
  }

  async function lostOf(hold: Hold): Promise<void> {
    await vi.waitUntil(() => hold.lost.aborted, { interval: 10, timeout: patienceMs });
  }

  it('tells the time of the database when it is taken', async () => {
    const offsets: (number | undefined)[] = [];
    const note = (found?: ClockDifference) =>
      void offsets.push(found && Math.round(findOffset(found) / 60_000));
    const ledger = opened.open({ peerClock: { clock: () => Date.now() - 3_600_000, note } });
    const hold = await ledger.holds.day(day);
    expect(await ledger.holds.day(day)).toBeUndefined();
    await hold?.release();
    expect(offsets).toEqual([60]);
  });

  it('is renewed while its holder lives, however long', async () => {
    const hold = await opened.ledger.holds.day(day);
    const leaseUntil = async () => {
      const [row] = await opened.query('SELECT lease_until::text FROM hotel_review.holds');
      return row?.lease_until;
    };
    const other = opened.open();
    for (let renewals = 0; renewals < 2; renewals += 1) {
      const before = await leaseUntil();
      await vi.waitUntil(async () => (await leaseUntil()) !== before, { interval: 20, timeout: patienceMs });
      expect(await other.holds.day(day)).toBeUndefined();
    }
    expect(hold?.lost.aborted).toBe(false);
  });

  it('passes to another process when its holder freezes; the holder notices when it wakes, and is fenced', async () => {
    const child = await startHolder();
    await child.freeze();
    await takenIn(opened.ledger);
    await opened.ledger.runs.takeOver('r1');
    child.wake('SIGCONT');
    await child.printed('lost');
    await child.printed('FencedError');
    expect((await opened.ledger.runs.get('r1')).state).toBe('collecting');
  });

  it('is lost when it could not be renewed for one lease', async () => {
    const hold = await opened.ledger.holds.day(day);
    if (!hold) throw new Error('expected a hold, got: none');
    await postgres().stop();
    try {
      await lostOf(hold);
    } finally {
      await postgres().start();
    }
    await takenIn(opened.open());
  });

  it('is free at once when its holder closes the ledger', async () => {
    const holder = opened.open({ leaseMs: 3_600_000 });
    await holder.holds.day(day);
    await holder.close();
    expect(await opened.ledger.holds.day(day)).toBeDefined();
  });

  it('keeps no finished process alive', async () => {
    const child = startChild(
      `const { createPostgresLedger } = await import(built + '../postgres/postgres-ledger.js');
       const ledger = createPostgresLedger({ url: ${JSON.stringify(opened.url)},
         clock: Date.now });
       await ledger.holds.day('${day}');
       process.once('beforeExit', () => console.log('nothing left to do'));
       // The child would stay alive otherwise.
       globalThis.setInterval = () => undefined;`,
    );
    children.push(child);
    await child.printed('nothing left to do');
  });

  it('is left alone by retention while workers perform its run, although nobody holds it', async () => {
    const run = await collectedRun(opened.ledger, 'r1', { bookings: ['a'] });
    const claim = await claimStep(opened.ledger, run, 'batch 0');
    const other = opened.open();
    const renewing = setInterval(
      () => opened.ledger.steps.renewClaims([claim]).catch(() => undefined),
      leaseMs / 6,
    );
    try {
      await other.guests.blankNames('2026-12-01', blankNames);
      await other.guests.prune('2026-12-01');
      expect((await other.bookings.readBatch('r1', 'posted', 0)).toString()).toContain('Ana Gil');
    } finally {
      clearInterval(renewing);
    }
    await record(opened.ledger, claim, { kind: 'interrupted', evidence: { code: 'stopped' } }, at);
    await other.guests.prune('2026-12-01');
    expect((await other.runs.get('r1')).state).toBe('cancelled');
    expect(await other.steps.claim(rightOf(run), 'batch 0', 2, at)).toBeUndefined();
  });
});
