import { expect, it } from 'vitest';
import { hasPassed } from '../../src/base/elapsed.js';

it.each([
  { since: 1_000, now: 1_059, passed: false },
  { since: 1_000, now: 1_060, passed: true },
  { since: 1_000, now: 941, passed: false },
  { since: 1_000, now: 940, passed: true },
  { since: undefined, now: 0, passed: true },
])('Of 60 ms since $since at $now', ({ passed, ...times }) => {
  expect(hasPassed(60, times)).toBe(passed);
});
