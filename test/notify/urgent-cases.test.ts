import { expect, it } from 'vitest';
import type { CaseSummary } from '../../src/ledger/cases.js';
import { findUrgentCases, tellUrgent } from '../../src/notify/check-notices.js';
import { fakeLedger } from '../support/fake-ledger.js';

const now = Date.UTC(2026, 10, 21, 2);
const item = { state: 'open', openBookings: 1, inHouse: 0, nextCheckIn: '2026-11-21' };

const find = (cases: readonly object[]) =>
  findUrgentCases(
    {
      ledger: fakeLedger({ cases: { list: async () => [...cases] as CaseSummary[] } }),
      timezone: 'Europe/Madrid',
    },
    now,
  );

it('Guests in house are told first, then unknown days, then the nearest check-in', async () => {
  const cases = [
    { ...item, id: 1, nextCheckIn: '2026-11-22' },
    { ...item, id: 2 },
    { ...item, id: 3, hasUnknownCheckIn: true },
    { ...item, id: 4, inHouse: 1, firstCheckIn: '2026-11-19', nextCheckIn: undefined },
    { ...item, id: 5, inHouse: 1, firstCheckIn: '2026-11-03', nextCheckIn: undefined },
  ];
  const found = await find(cases);
  expect(found.map(({ facts }) => facts.case)).toEqual(['5', '4', '3', '2', '1']);
  expect(tellUrgent(found)).toEqual({ singly: found });
});

it('Of more than twenty, the most urgent are told singly, and the rest in one message, which no other look repeats', async () => {
  const cases = Array.from({ length: 1_101 }, (_, index) => ({ ...item, id: index + 1 }));
  const guests = Array.from({ length: 25 }, (_, index) => ({
    ...{ ...item, id: 2_000 + index, inHouse: 1, nextCheckIn: undefined },
    firstCheckIn: `2026-10-${index + 1}`.replace(/-(\d)$/, '-0$1'),
  }));
  const found = await find([...cases, ...guests]);
  const { singly, together } = tellUrgent(found);
  expect(singly).toEqual(found.slice(0, 20));
  expect(singly[0]?.subject).toBe('case 2000 on 2026-10-01');
  expect(together).toEqual({
    event: 'case-urgent',
    subject: 'more from case 2020 on 2026-10-21',
    facts: { cases: 1_106, inHouse: 5 },
    raisedAt: now,
  });
});
