import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import { findUrgentCases, tellUrgent } from '../../src/notify/check-notices.js';
import type { NewNotice } from '../../src/rules/notice.js';
import { fakeLedger } from '../support/fake-ledger.js';

const now = Date.UTC(2026, 10, 21, 2);
const arrivals = ['2026-11-21', '2026-11-22', '2026-11-23', undefined];

const anyCase = fc.record({
  state: fc.constantFrom('open', 'corrected', 'dismissed'),
  openBookings: fc.nat(3),
  inHouse: fc.nat(1),
  firstCheckIn: fc.constantFrom('2026-11-03', '2026-11-19'),
  nextCheckIn: fc.constantFrom(...arrivals),
  hasUnknownCheckIn: fc.boolean(),
});
const anyCases = fc
  .array(anyCase, { maxLength: 60 })
  .map((cases) => cases.map((item, index) => ({ ...item, id: index + 1 }) as CaseSummary));

const find = (cases: readonly CaseSummary[]) =>
  findUrgentCases(
    { ledger: fakeLedger({ cases: { list: async () => [...cases] } }), timezone: 'Europe/Madrid' },
    now,
  );

/** Guests in house, unknown days, and then the nearest check-in. */
const rank = ({ facts: { inHouseSince, firstCheckIn } }: NewNotice) =>
  inHouseSince === undefined
    ? firstCheckIn === 'an unknown day'
      ? '1'
      : `2${firstCheckIn}`
    : `0${inHouseSince}`;

describe('what one look finds urgent', () => {
  it('is told singly as far as it is most urgent, guests in house first, and the rest at once', async () => {
    const property = fc.asyncProperty(anyCases, async (cases) => {
      const found = await find(cases);
      const inOrder = found.filter(
        ({ facts }) => facts.inHouseSince !== undefined || !hasUnknown(cases, facts.case),
      );
      expect(inOrder.map(rank)).toEqual(inOrder.map(rank).sort());
      expect(new Set(found.map(({ subject }) => subject)).size).toBe(found.length);
      const { singly, together } = tellUrgent(found);
      expect(singly).toEqual(found.slice(0, 20));
      expect(together === undefined).toBe(found.length <= 20);
      const others = found.slice(20);
      if (together) expect(together.facts.cases).toBe(new Set(others.map(({ facts }) => facts.case)).size);
    });
    await fc.assert(property);
  });

  function hasUnknown(cases: readonly CaseSummary[], id: unknown): boolean {
    return cases.some((item) => String(item.id) === id && item.hasUnknownCheckIn);
  }

  it('is one message for the rest, which no other look repeats', async () => {
    const item = { state: 'open', openBookings: 1, inHouse: 0, nextCheckIn: '2026-11-21' };
    const cases = Array.from({ length: 1_101 }, (_, index) => ({ ...item, id: index + 1 }) as CaseSummary);
    const guest = { ...item, id: 1_102, inHouse: 1, firstCheckIn: '2026-11-03', nextCheckIn: undefined };
    const { singly, together } = tellUrgent(await find([...cases, guest as unknown as CaseSummary]));
    expect(singly[0]?.subject).toBe('case 1102 on 2026-11-03');
    expect(together).toEqual({
      event: 'case-urgent',
      subject: 'more from case 20 on 2026-11-21',
      facts: { cases: 1_082, inHouse: 0 },
      raisedAt: now,
    });
  });
});
