import { describe, expect, it } from 'vitest';
import { createLatencyModel } from '../../bench/scale/latency-model.js';
import {
  bookingsPerSecond,
  type Crew,
  callsPerSecond,
  deviation,
  fitLine,
  gigabytesKept,
  hoursAtLimit,
  ownSecondsOf,
  predict,
  processesFor,
} from '../../bench/scale/model.js';
import { formatFigure, renderTable, replaceFigures } from '../../bench/scale/page.js';

const crew: Crew = { processes: 1, concurrency: 8, batchSize: 500, answerSeconds: 0.07, ownSeconds: 0.01 };

describe('the line through measured days', () => {
  const line = fitLine(
    [100_000, 200_000, 500_000].map((bookings) => ({ bookings, value: 2 + bookings / 1e5 })),
  );

  it('has a fixed cost and a cost per million', () => {
    expect(line.fixed).toBeCloseTo(2);
    expect(line.perMillion).toBeCloseTo(10);
  });

  it('predicts a larger day', () => {
    expect(predict(line, 10_000_000)).toBeCloseTo(102);
  });

  it('deviates from a day that took half as much again', () => {
    expect(deviation(100, 150)).toBeCloseTo(0.5);
    expect(deviation(100, 90)).toBeCloseTo(-0.1);
  });
});

describe('the rule for the sending rate', () => {
  it('is concurrent calls divided by the time of each', () => {
    expect(callsPerSecond(crew)).toBeCloseTo(100);
    expect(callsPerSecond({ ...crew, processes: 3 })).toBeCloseTo(300);
    expect(bookingsPerSecond(crew)).toBeCloseTo(50_000);
  });

  it('is capped by the rate limit', () => {
    expect(callsPerSecond({ ...crew, processes: 3, requestsPerSecond: 20 })).toBe(20);
  });

  it('makes all processes wait for each refused call', () => {
    const pushed = { ...crew, pushBackShare: 0.01, retryAfterSeconds: 1 };
    expect(callsPerSecond(pushed)).toBeCloseTo(50);
    expect(callsPerSecond({ ...pushed, processes: 1_000 })).toBeLessThan(100);
  });

  it('is calibrated by a measured rate', () => {
    const ownSeconds = ownSecondsOf(crew, 80);
    expect(callsPerSecond({ ...crew, ownSeconds })).toBeCloseTo(80);
  });

  it('gives the number of processes for a day, rounded up', () => {
    // 10 million in an hour are 5.6 calls a second of 500.
    expect(processesFor(10_000_000, 1, { ...crew, answerSeconds: 1.49 })).toBe(2);
    expect(processesFor(100_000_000, 1, { ...crew, answerSeconds: 1.49 })).toBe(11);
    expect(processesFor(1, 24, crew)).toBe(1);
  });
});

it('a day at the limit of the service takes its calls divided by that limit', () => {
  expect(hoursAtLimit(100_000_000, 20, 500)).toBeCloseTo(2.78, 2);
});

it('the ledger holds all days that it keeps', () => {
  expect(gigabytesKept(65, 10_000_000, 30)).toBeCloseTo(19.5);
});

describe('the model of the service', () => {
  it('answers half of the calls within its median, and 99 of 100 within the 99th percentile', () => {
    const model = createLatencyModel({ p50Ms: 50, p99Ms: 500, seed: 1 });
    const delays = Array.from({ length: 20_000 }, () => model.next().delayMs).sort((a, b) => a - b);
    expect(delays[10_000]).toBeGreaterThan(48);
    expect(delays[10_000]).toBeLessThan(52);
    expect(delays[19_800]).toBeGreaterThan(450);
    expect(delays[19_800]).toBeLessThan(550);
    expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length / model.meanMs).toBeCloseTo(1, 1);
  });

  it('refuses the configured share, with both statuses', () => {
    const model = createLatencyModel({ p50Ms: 50, p99Ms: 500, pushBackShare: 0.1, seed: 1 });
    const statuses = Array.from({ length: 20_000 }, () => model.next().status);
    const shareOf = (status: number) => statuses.filter((each) => each === status).length / statuses.length;
    expect(shareOf(429)).toBeCloseTo(0.05, 2);
    expect(shareOf(503)).toBeCloseTo(0.05, 2);
  });

  it('is deterministic for a seed', () => {
    const first = () => createLatencyModel({ p50Ms: 50, p99Ms: 500, seed: 3 }).next();
    expect(first()).toEqual(first());
  });
});

describe('the figures in the page', () => {
  const page = `Before.

<!-- simulation: crews -->
old
<!-- end of simulation: crews -->

<!-- simulation: days -->
<!-- end of simulation: days -->
After.`;

  it('are replaced between their markers only', () => {
    const replaced = replaceFigures(page, 'crews', 'new $& figures\n');
    expect(replaced).toBe(page.replace('old', () => 'new $& figures'));
    expect(replaceFigures(replaced, 'crews', 'new $& figures')).toBe(replaced);
  });

  it('fill an empty place', () => {
    expect(replaceFigures(page, 'days', 'one')).toContain(
      'days -->\none\n<!-- end of simulation: days -->\nAfter.',
    );
  });

  it.each(['absent', 'crew'])('are refused where there is no place for them: %s', (name) => {
    expect(() => replaceFigures(page, name, 'figures')).toThrow(`expected one place for ${name}`);
  });

  it('are refused where there are two places', () => {
    expect(() => replaceFigures(page + page, 'crews', 'figures')).toThrow('expected one place for crews');
  });

  it('are right-aligned in tables', () => {
    expect(renderTable(['what', 'much'], [['time', '3']])).toBe('| what | much |\n|---|---:|\n| time | 3 |');
  });

  it('have significant digits only', () => {
    expect([0.123, 1.234, 12.34, 1234.5].map(formatFigure)).toEqual(['0.12', '1.23', '12.3', '1,235']);
  });
});
