import { expect, it } from 'vitest';
import { adviseOn, auditAccepted, describeImplausible, shareOf } from '../../src/rules/acceptance-words.js';

it('a day that somebody has to accept comes with each case and its command', () => {
  expect(adviseOn('volume', 'DAY')).toEqual([
    ['once the export is complete', 'replay DAY --late'],
    ['if it is right', 'run DAY --accept-volume'],
  ]);
  expect(adviseOn('affected', 'DAY')).toEqual([
    ['to look at them', 'affected DAY'],
    ['once what is wrong is corrected', 'replay DAY'],
    ['if they are right', 'run DAY --accept-affected'],
  ]);
});

it('the audit trail names what was accepted as its option', () => {
  expect(auditAccepted()).toEqual({});
  expect(auditAccepted(['volume', 'affected'])).toEqual({ acceptVolume: true, acceptAffected: true });
});

it.each([
  [1_030, 2_000, 0.515, '1,030 of 2,000 with a verdict (51.5%)'],
  [1, 3, 0.3333, '1 of 3 with a verdict (33.33%)'],
  [2, 0, 2, '2 of 0 with a verdict (200%)'],
])('%d affected bookings of %d are a share of %d', (affected, judged, share, words) => {
  expect(shareOf({ affected, judged })).toBe(share);
  expect(describeImplausible({ affected, judged })).toBe(`implausibly many affected bookings: ${words}`);
});
