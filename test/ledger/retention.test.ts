import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { blankNames } from '../../src/booking/stored-line.js';
import { createRetention } from '../../src/ledger/guests.js';
import { readInSlices } from '../../src/ledger/runs.js';
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

it('runs are read in slices, each once, however many there are', async () => {
  const all = Array.from({ length: 400 }, (_, number) => ({ id: `${number}`, day: later }));
  const read: string[] = [];
  for await (const { id } of readInSlices(async ({ after, limit }) => {
    const first = after === undefined ? 0 : Number(after) + 1;
    return all.slice(first, first + limit);
  }))
    read.push(id);
  expect(read).toEqual(all.map(({ id }) => id));
});

describe('with keys', () => {
  async function openEncrypted(...days: readonly string[]) {
    const opened = await openSqliteLedger({ isEncrypted: true });
    onTestFinished(opened.cleanUp);
    for (const day of days) {
      const run = await collectedRun(opened.ledger, day, { day });
      await opened.ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
    }
    return opened;
  }

  it('a day whose key is lost keeps its names, and is told of once the other days are done', async () => {
    const { ledger, path } = await openEncrypted('2026-11-19', '2026-11-20');
    rmSync(join(dirname(path), '..', 'keys', '2026-11-19.key'));
    await expect(ledger.guests.blankNames(later, blankNames)).rejects.toMatchObject({ code: 'lost' });
    expect(await idsOf(ledger.guests.readRunsWithNames(later))).toEqual(['2026-11-19']);
    expect(await ledger.bookings.sampleBatches('2026-11-19')).toEqual([]);
  });

  it('what is left of a batch after a guest was erased is encrypted', async () => {
    const { ledger, openRaw } = await openEncrypted('2026-11-20');
    await ledger.guests.eraseBookings('2026-11-20', (lines) => ({ rows: [0], lines }));
    const stored = openRaw()
      .all('SELECT lines FROM batches')
      .map(({ lines }) => String(lines));
    expect(stored.join()).not.toContain('Ana Gil');
    expect(String(await ledger.bookings.readBatch('2026-11-20', 'posted', 0))).toContain('Ana Gil');
  });
});
