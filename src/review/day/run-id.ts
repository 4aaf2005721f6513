import type { BusinessDay } from '../../booking/business-day.js';

/** Without vowels and look-alikes: nothing to misread on the phone, and no words. */
const letters = '23456789bcdfghjkmnpqrstvwxz';
const length = 8;

/**
 * A run's name: its day and eight random characters, for example `20261120-k3f9xq7d`. It is safe in file names and
 * queue ids, and random rather than counted, so that a ledger begun anew never names a run like an archived one.
 */
export function createRunId(day: BusinessDay, random: () => number): string {
  const suffix = Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
  return `${day.format('yyyyMMdd')}-${suffix}`;
}
