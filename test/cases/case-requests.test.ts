import { beforeEach, expect, it } from 'vitest';
import { type CaseRequest, performRequest } from '../../src/cases/case-requests.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { at } from '../contracts/ledger/days.js';
import { openCases, threeCases } from '../desk/cases/some-cases.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
  await openCases(ledger, threeCases);
});

/** What case 1 is after this request. */
async function request(one: CaseRequest) {
  await performRequest(ledger.cases, [1], one, { who: 'bea', clock: () => at });
  return ledger.cases.find(1);
}
const resolving = (...bookings: string[]): CaseRequest => ({ kind: 'resolve', bookings, as: 'confirmed' });

it('A booking without a reference is chosen by its place, and any other by its reference alone', async () => {
  await expect(request(resolving('BR-2', '#1'))).rejects.toThrow(
    'case 1 has no booking #1; nothing was changed',
  );
  const { bookings = [] } = (await request(resolving('BR-2', '#3'))) ?? {};
  expect(bookings.map(({ resolved }) => resolved?.as)).toEqual([undefined, 'confirmed', 'confirmed']);
});
