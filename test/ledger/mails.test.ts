import { expect, it } from 'vitest';
import { isNamedByMapping } from '../../src/ledger/mails.js';
import { someRun } from '../review/some-run.js';

const startedAt = Date.parse('2026-11-21T02:30:00Z');
const collectedAt = Date.parse('2026-11-21T06:30:00.900Z');

it.each([
  [true, 'of the second in which its run was collected', collectedAt - 900],
  [false, 'from before that, though the run had begun, and failed', collectedAt - 901],
  [true, 'from the first day of its stay, anywhere', Date.parse('2026-12-02T11:59:59Z')],
  [false, 'from later', Date.parse('2026-12-02T12:00:00Z')],
])('it is %j that an e-mail about its mapping names a booking: %s', (isNamed, _, receivedAt) => {
  const run = someRun({ startedAt, collectedAt });
  expect(isNamedByMapping(receivedAt, { run, checkIn: '2026-12-01' })).toBe(isNamed);
});
