import { expect, it } from 'vitest';
import { checkVerdicts } from '../../src/checks/doctor/verdicts.js';

const message = (...of: Parameters<typeof checkVerdicts>) =>
  checkVerdicts(...of).map(({ verdict, message }) => `${verdict}: ${message}`);

it('doctor warns of verdicts that nobody reads: by body without a mailbox', () => {
  expect(checkVerdicts('body', undefined)).toMatchObject([
    { part: 'verdicts', verdict: 'warning', advice: expect.stringContaining('setting verdicts') },
  ]);
  expect(message('body', { count: 4, byBody: 4_802 })).toEqual([
    expect.stringContaining('warning: about 1,201 bookings a night went by body in the last 4 nights'),
  ]);
});

it('doctor says how many bookings of file runs go by body, and warns if that is usual', () => {
  expect(message('file', undefined)).toEqual([]);
  expect(message('file', { count: 14, byBody: 0 })).toEqual([]);
  expect(message('file', { count: 14, byBody: 3 })).toEqual([
    expect.stringContaining('ok: fewer than one booking a night went by body in the last 14 nights'),
  ]);
  expect(message('file', { count: 14, byBody: 140 })).toEqual([
    expect.stringContaining('warning: about 10 bookings a night went by body in the last 14 nights'),
  ]);
});
