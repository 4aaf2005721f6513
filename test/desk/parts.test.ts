import { expect, it } from 'vitest';
import { showMessage } from '../../src/desk/parts.js';

const command = (words: string) => `hotel-review ${words}`;

it.each([
  ['2026-11-20 has no run', '20 Nov 2026 has no run'],
  ['the day failed; run 2026-11-20 again.', 'the day failed; run 20 Nov 2026 again.'],
  ['see `run 2026-11-20`', 'see `hotel-review run 2026-11-20`'],
  ['there is no file exports/bookings-2026-11-20.csv', 'there is no file exports/bookings-2026-11-20.csv'],
  ['/data/2026-11-20/x.csv, line 3', '/data/2026-11-20/x.csv, line 3'],
  ['2026-11-20.csv is empty', '2026-11-20.csv is empty'],
  ['at 2026-11-20T10:00:00Z', 'at 2026-11-20T10:00:00Z'],
])('A page shows the message %s as %s', (message, shown) => {
  expect(showMessage(message, command)).toBe(shown);
});
