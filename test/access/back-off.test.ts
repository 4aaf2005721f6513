import { describe, expect, it } from 'vitest';
import { createBackOff } from '../../src/storage/access/passwords.js';

const now = Date.parse('2026-11-21T02:30:00Z');
const address = '203.0.113.7';

function startBackOff() {
  let at = now;
  const backOff = createBackOff(() => at);
  return {
    ...backOff,
    pass: (seconds: number) => {
      at += seconds * 1_000;
    },
    fail: (times: number, from = address) => {
      for (let failed = 0; failed < times; failed += 1) backOff.recordFailure(from);
    },
  };
}

describe('an address with wrong credentials', () => {
  it('waits after five failures, and twice as long after each further one, up to a minute', () => {
    const { fail, findWait } = startBackOff();
    fail(4);
    expect(findWait(address)).toBe(0);
    const waits = Array.from({ length: 8 }, () => {
      fail(1);
      return findWait(address);
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('waits no longer than that, even if the clock is set back', () => {
    const { fail, findWait, pass } = startBackOff();
    fail(12);
    pass(59.5);
    expect(findWait(address)).toBe(1);
    pass(-120);
    expect(findWait(address)).toBe(60);
  });

  it('starts over after a success, and after a quarter of an hour', () => {
    const { fail, findWait, pass, recordSuccess } = startBackOff();
    fail(12);
    recordSuccess(address);
    fail(4);
    expect(findWait(address)).toBe(0);
    fail(8);
    pass(15 * 60);
    fail(4);
    expect(findWait(address)).toBe(0);
  });

  it('makes its whole IPv6 network wait, and nobody else', () => {
    const { fail, findWait } = startBackOff();
    fail(12, '2001:db8:0:7::1');
    fail(12, '203.0.113.9');
    expect(findWait('2001:db8::7:0:0:0:99')).toBe(60);
    expect(findWait('203.0.113.9')).toBe(60);
    for (const other of ['2001:db8::8:0:0:0:1', '::1', '203.0.113.8']) expect(findWait(other)).toBe(0);
  });

  it('is forgotten after ten thousand others, so that memory stays bounded', () => {
    const { fail, findWait } = startBackOff();
    fail(12);
    for (let other = 0; other < 10_000; other += 1) fail(1, `other-${other}`);
    expect(findWait(address)).toBe(0);
  });
});
