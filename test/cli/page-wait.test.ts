import { expect, it } from 'vitest';
import { describePageWait } from '../../src/cli/page-wait.js';

it('tells of a long wait for an API, its reason and its length', () => {
  expect(describePageWait({ code: 'http-429', delayMs: 300_000 })).toMatch(/http-429.*again in 5 min/);
});

it('is silent about a wait that is over at once', () => {
  expect(describePageWait({ code: 'http-503', delayMs: 400 })).toBeUndefined();
});
