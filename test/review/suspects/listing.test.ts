import { describe, expect, it } from 'vitest';
import { listSuspects } from '../../../src/review/suspects/listing.js';
import { listBookings } from '../../../src/review/verdicts/listing.js';
import { alone } from '../../../src/rules/day-outcome.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const suspects = 1;
const line = (number: number) => `${number},BR-${number},Ana Lovelace,,,,`;

/** A ledger with these pages of each run. */
function ledgerOf(pages: Readonly<Record<string, readonly (readonly string[])[]>>) {
  return fakeLedger({
    bookings: {
      nextSuspects: async (runId, after) => {
        const batch = (after?.batch ?? -1) + 1;
        const lines = pages[runId]?.[batch];
        const toSuspect = (text: string, row: number) => ({
          line: text,
          row,
          reason: 'moved' as const,
          movedAt: Date.parse('2026-11-18T10:00:00Z'),
        });
        return (
          lines && { cursor: { stream: 'posted', batch }, stream: 'posted', suspects: lines.map(toSuspect) }
        );
      },
      readExtra: async () => undefined,
      findExtra: async () => new Map(),
    },
    hotels: { lookUp: async (ids) => ids.map(() => undefined) },
    cases: { findByKeys: async (keys) => keys.map(() => undefined) },
  });
}

describe('the suspects of a run', () => {
  it("are listed under the service's field names, without the guest's name", async () => {
    const reported = await listSuspects(ledgerOf({ one: [[line(7)]] }), someRun({ id: 'one', suspects }), 9);
    expect(reported).toEqual([
      {
        ServiceId: 7,
        BookingReferenceId: 'BR-7',
        reason: 'moved',
        copyServiceId: null,
        copy: 'unmapped',
        movedAt: '2026-11-18T10:00:00.000Z',
      },
    ]);
  });

  it('are limited to the requested number, over all pages', async () => {
    const ledger = ledgerOf({ one: [[line(1), line(2)], [line(3), line(4)], [line(5)]] });
    const reported = await listSuspects(ledger, someRun({ id: 'one', suspects }), 3);
    expect(reported.map(({ ServiceId }) => ServiceId)).toEqual([1, 2, 3]);
  });

  it('are not looked for if nothing was compared', async () => {
    expect(await listSuspects(fakeLedger({}), someRun({ id: 'one' }), 9)).toEqual([]);
  });

  it('of several runs are listed as they were compared', async () => {
    const ledger = ledgerOf({ late: [[line(3)], [line(1)]], first: [[line(2)]] });
    const runs = [someRun({ id: 'late' }), someRun({ id: 'first' })].map(alone);
    const list = await listBookings(ledger, 'suspects', runs, { today: '2026-11-21', clock: () => 0 });
    const listed = [];
    for await (const some of list.read()) listed.push(...some);
    expect(listed.map(({ runId, fields }) => [runId, fields.ServiceId])).toEqual([
      ['late', 3],
      ['late', 1],
      ['first', 2],
    ]);
    expect(listed[0]).toMatchObject({
      ...{ day: '2026-11-20', runId: 'late', fields: { ServiceId: 3, BookingReferenceId: 'BR-3' } },
      ...{ reason: 'moved', copyServiceId: null, copy: 'unmapped', movedAt: '2026-11-18T10:00:00.000Z' },
    });
    expect(list.count).toBe(3);
  });
});
