import { expect, it } from 'vitest';
import { freeMemory } from '../../src/async/free-memory.js';

it('freed memory is released at once', () => {
  const before = process.memoryUsage().arrayBuffers;
  const bytes = Buffer.alloc(1_000_000, 'x');
  expect(process.memoryUsage().arrayBuffers).toBeGreaterThanOrEqual(before + 1_000_000);
  freeMemory(bytes);
  expect(bytes.length).toBe(0);
  expect(process.memoryUsage().arrayBuffers).toBeLessThan(before + 1_000_000);
});

it('memory that others may use stays', () => {
  const whole = Buffer.alloc(1_000_000, 'x');
  const small = Buffer.from('Ana Gil');
  for (const bytes of [whole.subarray(1), whole.subarray(0, 500_000), small]) {
    const content = Buffer.from(bytes);
    freeMemory(bytes);
    expect(bytes.equals(content)).toBe(true);
  }
});
