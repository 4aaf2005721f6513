import { describe, expect, it } from 'vitest';
import { blockOf, createLineIndex, type LineIndex } from '../../../src/review/collect/line-index.js';
import { seededRandom } from '../../support/seed.js';

describe('the line index', () => {
  it('behaves like a Map, far beyond its initial capacity', () => {
    const random = seededRandom();
    const memory = createLineIndex();
    const expected = new Map<string, number>();
    const wrong: string[] = [];
    for (let position = 0; position < 150_000; position += 1) {
      // One in three is repeated: nearby, far away, and on both sides of each growth.
      const number = random() < 0.33 ? Math.floor(random() * position) : position;
      const line = `{"ServiceId":${number},"BookingClientName":"Žižek 😀 ${number % 7}"}`;
      const earlier = expected.get(line);
      if (earlier === undefined) expected.set(line, position);
      if (findOrRemember(memory, line, position) !== earlier) wrong.push(line);
    }
    expect(wrong).toEqual([]);
    expect(expected.size).toBeGreaterThan(100_000);
  });

  it('returns positions billions apart', () => {
    const memory = createLineIndex();
    const lines = Array.from({ length: 60_000 }, (_, number) => `line ${number}`);
    const positionOf = (number: number) => number * 70_000;
    lines.forEach((line, number) => {
      findOrRemember(memory, line, positionOf(number));
    });
    const found = lines.map((line) => findOrRemember(memory, line, 2 ** 32 - 1));
    expect(found).toEqual(lines.map((_, number) => positionOf(number)));
  });
});

/** Surrounds the line with other bytes, which must not count. */
function findOrRemember(memory: LineIndex, line: string, position: number): number | undefined {
  const bytes = Buffer.from(`${position}\n${line}\n${position}`);
  const margin = String(position).length;
  return memory.findOrRemember(blockOf(bytes, [margin, bytes.length - margin - 1]), 1, position);
}
