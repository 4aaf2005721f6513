import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { blankNames } from '../../src/review/body/booking-item.js';
import { forgetOldDays } from '../../src/review/retention.js';
import { ok, prepareDelivery } from './delivering.js';
import { openTemporaryLedger } from './temporary-ledger.js';

const periods = { guestNameDays: 30, recordDays: 800 };

describe('forgetting old days', () => {
  it.each([
    ['2026-11-20', '2024-09-11', '2026-10-21'],
    ['2028-03-01', '2025-12-22', '2028-01-31'],
    ['2027-03-29', '2025-01-18', '2027-02-27'],
  ])('counts days by the calendar: on %s', async (today, pruneBefore, blankBefore) => {
    const asked: unknown[] = [];
    const ledger = {
      prune: async (before: string) => asked.push(['prune', before]),
      blankGuestNames: async (before: string, blank: unknown) => asked.push(['blank', before, blank]),
    };
    await forgetOldDays(ledger, periods, createBusinessDay(today, 'Europe/Madrid'));
    expect(asked).toEqual([
      ['prune', pruneBefore],
      ['blank', blankBefore, blankNames],
    ]);
  });

  it('takes the names of guests out of the ledger when their time is over, and not a day before', async () => {
    const ledger = await openTemporaryLedger();
    await prepareDelivery({ ledger, day: '2026-10-21', bookings: 3, batchSize: 2, answer: () => ok });
    const { right } = await prepareDelivery({
      ledger,
      day: '2026-10-20',
      bookings: 3,
      batchSize: 2,
      answer: () => ok,
    });
    await forgetOldDays(ledger, periods, createBusinessDay('2026-11-20', 'Europe/Madrid'));
    const kept = await ledger.readBatch('run-of-2026-10-21', 'body', 0);
    const blanked = await ledger.readBatch(right.runId, 'body', 0);
    expect(kept.toString()).toContain('Ana Lovelace');
    expect(blanked.toString()).toBe(
      '{"ServiceId":700000,"BookingReferenceId":"BR-0"}\n{"ServiceId":700001,"BookingReferenceId":"BR-1"}\n',
    );
    await forgetOldDays(ledger, periods, createBusinessDay('2026-11-20', 'Europe/Madrid'));
    expect((await ledger.readBatch(right.runId, 'body', 0)).equals(blanked)).toBe(true);
  });
});
