import { describe, expect, it } from 'vitest';
import { findSuspicion, type KnownMapping } from '../../../src/review/suspects/suspicion.js';

const now = Date.parse('2026-11-21T02:30:00Z');
const dayMs = 86_400_000;
const booked = 100_200;

const judge = (mapping: KnownMapping, suspectDays = 7) =>
  findSuspicion(booked, mapping, { now, suspectDays });

describe('a booking is', () => {
  it('no suspect where the copy does not know its hotel', () => {
    expect(judge({})).toBeUndefined();
  });

  it('no suspect where the copy says the same', () => {
    expect(judge({ serviceId: booked })).toBeUndefined();
  });

  it('one where the copy has its hotel under another master, however long already', () => {
    expect(judge({ serviceId: 1 })).toBe('other-master');
    expect(judge({ serviceId: 1, movedAt: now - 800 * dayMs })).toBe('other-master');
  });

  it('one of another master, first of all, where the mapping also moved lately', () => {
    expect(judge({ serviceId: 1, movedAt: now - 1 })).toBe('other-master');
  });

  it('one where the mapping moved to its own master within the days, to the millisecond', () => {
    expect(judge({ serviceId: booked, movedAt: now })).toBe('moved');
    expect(judge({ serviceId: booked, movedAt: now - 7 * dayMs + 1 })).toBe('moved');
    expect(judge({ serviceId: booked, movedAt: now - 7 * dayMs })).toBeUndefined();
  });

  it('one where the mapping was deleted within the days, and no longer', () => {
    expect(judge({ movedAt: now - 6 * dayMs })).toBe('moved');
    expect(judge({ movedAt: now - 8 * dayMs })).toBeUndefined();
  });

  it('none for having moved where that makes no suspects', () => {
    expect(judge({ serviceId: booked, movedAt: now }, 0)).toBeUndefined();
    expect(judge({ serviceId: 1, movedAt: now }, 0)).toBe('other-master');
  });
});
