import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '../../src/http/headers.js';

const now = new Date('2026-11-20T02:30:00Z');

describe('the wait that Retry-After asks for', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['seconds with blanks around', ' 7 ', 7_000],
    ['a date', 'Fri, 20 Nov 2026 02:31:30 GMT', 90_000],
    ['a date in the older form', 'Friday, 20-Nov-26 02:30:05 GMT', 5_000],
    ['more seconds than a number can hold', '9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('is read from %s', (_what, header, milliseconds) => {
    expect(readRetryAfter(header, now)).toBe(milliseconds);
  });

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['no wait at all', '0'],
    ['a negative number', '-5'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['words', 'soon'],
    ['a date that has passed', 'Fri, 20 Nov 2026 02:29:59 GMT'],
    ['a date without a zone', 'Fri, 20 Nov 2026 02:31:30'],
    ['an invalid date', 'Xxx, 99 Yyy 2026 02:31:30 GMT'],
  ])('is left to the back-off with %s', (_what, header) => {
    expect(readRetryAfter(header, now)).toBeUndefined();
  });
});
