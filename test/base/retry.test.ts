import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRetryDelays, decideRetry, type Failure, type RetryPolicy } from '../../src/base/retry.js';

const policy: RetryPolicy = { tries: 5, baseMs: 1_000, capMs: 6_000, retryAfterCapMs: 60_000, waits: 3 };
const halfway = () => 0.5;

describe('a failed try is followed by', () => {
  it.each<[string, Failure, ReturnType<typeof decideRetry>]>([
    ['a short wait at first', { tries: 0, waits: 0 }, retry(500, true)],
    ['twice that after the second try', { tries: 1, waits: 0 }, retry(1_000, true)],
    ['four times that after the third', { tries: 2, waits: 0 }, retry(2_000, true)],
    ['no more than the cap after the fourth', { tries: 3, waits: 0 }, retry(3_000, true)],
    ['nothing after the last', { tries: 4, waits: 0 }, { kind: 'spent' }],
    [
      'the wait that the service asks for, and a little',
      { tries: 4, waits: 0, retryAfterMs: 20_000 },
      retry(20_500, false),
    ],
    [
      'a short wait where the service asks for none',
      { tries: 4, waits: 2, retryAfterMs: 0 },
      retry(500, false),
    ],
    [
      'the longest wait allowed where it asks for more',
      { tries: 0, waits: 0, retryAfterMs: 1e9 },
      retry(60_500, false),
    ],
    [
      'the same wait at the price of a try when the waits are spent',
      { tries: 0, waits: 3, retryAfterMs: 20_000 },
      retry(20_000, true),
    ],
    [
      'nothing when waits and tries are spent',
      { tries: 4, waits: 3, retryAfterMs: 20_000 },
      { kind: 'spent' },
    ],
  ])('%s', (_, failure, decision) => {
    expect(decideRetry(failure, policy, halfway)).toEqual(decision);
  });
});

describe('whatever the policy and the failure,', () => {
  const milliseconds = fc.integer({ min: 0, max: 10_000_000 });
  const anyPolicy = fc.record({
    tries: fc.integer({ min: 1, max: 20 }),
    baseMs: milliseconds,
    capMs: milliseconds,
    retryAfterCapMs: milliseconds,
    waits: fc.integer({ min: 0, max: 20 }),
  });
  const retryAfter = fc.option(fc.integer({ min: 0, max: 1e12 }), { nil: undefined });
  const anyFailure = fc.record({
    tries: fc.integer({ min: 0, max: 25 }),
    waits: fc.integer({ min: 0, max: 25 }),
    retryAfterMs: retryAfter,
  });
  const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('a back-off is between zero and the cap', () => {
    fc.assert(
      fc.property(anyFailure, anyPolicy, anyRandom, ({ tries, waits }, anyPolicy, random) => {
        const decision = decideRetry({ tries, waits }, anyPolicy, () => random);
        if (decision.kind === 'spent') return;
        expect(decision.delayMs).toBeGreaterThanOrEqual(0);
        expect(decision.delayMs).toBeLessThanOrEqual(anyPolicy.capMs);
        expect(decision.spendsTry).toBe(true);
      }),
    );
  });

  it('a step that always fails ends after its tries and at most its waits', () => {
    fc.assert(
      fc.property(anyPolicy, fc.infiniteStream(retryAfter), anyRandom, (anyPolicy, wishes, random) => {
        let tries = 0;
        let waits = 0;
        for (let attempts = 1; ; attempts += 1) {
          const retryAfterMs = wishes.next().value ?? undefined;
          const decision = decideRetry({ tries, waits, retryAfterMs }, anyPolicy, () => random);
          if (decision.kind === 'spent') break;
          if (decision.spendsTry) tries += 1;
          else waits += 1;
          expect(attempts).toBeLessThan(anyPolicy.tries + anyPolicy.waits);
        }
        expect(tries).toBe(anyPolicy.tries - 1);
      }),
    );
  });
});

function retry(delayMs: number, spendsTry: boolean) {
  return { kind: 'retry' as const, delayMs, spendsTry };
}

it('the delays of a call end with its tries; requested waits are counted separately', () => {
  const nextDelayMs = createRetryDelays(policy, () => 0.5);
  const delays = [undefined, 10_000, undefined, 10_000, undefined, 10_000, undefined, undefined].map(
    (wished) => nextDelayMs(wished),
  );
  expect(delays).toEqual([500, 10_500, 1_000, 10_500, 2_000, 10_500, 3_000, undefined]);
});
