import { expect, it } from 'vitest';
import { checkDeadline } from '../../src/checks/doctor/deadline.js';

const now = Date.parse('2026-11-21T04:00:00Z');

it('doctor shows the next deadline, in the time of the zone', () => {
  expect(checkDeadline('06:00', 'Europe/Madrid', now)).toEqual({
    part: 'clock',
    verdict: 'ok',
    message: 'the next deadline is 2026-11-21 06:00 (Europe/Madrid), for the bookings of 2026-11-20',
  });
  expect(checkDeadline('04:00', 'UTC', now).message).toContain('2026-11-22 04:00');
});

it('doctor warns if no day of the next month has one', () => {
  expect(checkDeadline({ at: 'none', exceptions: {} }, 'UTC', now).verdict).toBe('warning');
});

it('doctor warns if there is none, as then no day is ever late', () => {
  expect(checkDeadline(undefined, 'UTC', now)).toMatchObject({
    ...{ part: 'clock', verdict: 'warning' },
    message: 'no day is ever late: nobody is told if one is not reviewed',
  });
});
