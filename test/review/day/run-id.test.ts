import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createRunId } from '../../../src/review/day/open-run.js';
import { createSeededRandom } from '../../../src/sandbox/common/random.js';
import { seededRandom } from '../../support/seed.js';

const day = createBusinessDay('2026-11-20', 'Pacific/Kiritimati');

describe("a run's name", () => {
  it('consists of its day and eight unambiguous characters', () => {
    const random = seededRandom();
    for (let count = 0; count < 1_000; count += 1) {
      expect(createRunId(day, random)).toMatch(/^20261120-[2-9bcdfghjkmnpqrstvwxz]{8}$/);
    }
  });

  it.each([
    [0, '20261120-22222222'],
    [1 - 2 ** -47, '20261120-zzzzzzzz'],
  ])('accepts the smallest and the largest random number: %d', (chance, id) => {
    expect(createRunId(day, () => chance)).toBe(id);
  });

  it('is different for every run', () => {
    const random = createSeededRandom(2);
    const ids = Array.from({ length: 10_000 }, () => createRunId(day, random));
    expect(new Set(ids).size).toBe(10_000);
  });
});
