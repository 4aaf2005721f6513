import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { blankNames } from '../../src/booking/stored-line.js';
import { createRetention } from '../../src/ledger/guests.js';
import { createSqliteStore } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { at, collectedRun, idsOf, references, rightOf } from '../contracts/ledger/days.js';
import { type OpenedSqliteLedger, openSqliteLedger } from './opened-ledger.js';

const later = '2026-12-01';

describe('blanking guest names while the hold on the day is lost', () => {
  let opened: OpenedSqliteLedger;
  beforeEach(async () => {
    opened = await openSqliteLedger();
    const run = await collectedRun(opened.ledger, 'r1', { bookings: references(12) });
    await opened.ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
  });
  afterEach(() => opened.cleanUp());

  /** Blanks until that batch has been rewritten, and returns the batches that still hold names. */
  async function blankUntil(batch: number): Promise<number[]> {
    const losing = new AbortController();
    let rewritten = 0;
    let released = 0;
    const hold = {
      lost: losing.signal,
      release: async () => {
        released += 1;
      },
    };
    const { store } = createSqliteStore(opened.openRaw(), { clock: () => at });
    const retention = createRetention(
      store,
      () => at,
      async () => hold,
    );
    await retention.blankNames(later, (lines) => {
      if (rewritten === batch) losing.abort();
      rewritten += 1;
      return blankNames(lines);
    });
    expect(released).toBe(1);
    const withNames: number[] = [];
    for (const number of [0, 1, 2]) {
      const lines = await opened.ledger.bookings.readBatch('r1', 'posted', number);
      if (lines.includes('Ana Gil')) withNames.push(number);
    }
    return withNames;
  }

  it.each([
    [0, [1, 2]],
    [2, []],
  ])('after batch %i, it stops and leaves the run for the next time', async (batch, left) => {
    expect(await blankUntil(batch)).toEqual(left);
    expect(await idsOf(opened.ledger.guests.readRunsWithNames(later))).toEqual(['r1']);
    await opened.ledger.guests.blankNames(later, blankNames);
    expect(await idsOf(opened.ledger.guests.readRunsWithNames(later))).toEqual([]);
    expect(String(await opened.ledger.bookings.readBatch('r1', 'posted', 2))).not.toContain('Ana Gil');
  });
});
