import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import { halveBatch, planBatches } from '../../../src/rules/batch-plan.js';
import type { Claimed, Outcome, Step } from '../../../src/rules/step.js';
import type { Verdict } from '../../../src/service/verdict.js';
import { someRun } from '../some-run.js';

const lines = Buffer.from('1,,,,,,\n2,,,,,,\n3,,,,,,\n');
const said = { code: 'some-code', httpStatus: 200, statusCode: 2000, answer: 'words' };
const sha256 = createHash('sha256').update('{"Hotels":[{"ServiceId":2},{"ServiceId":3}]}').digest('hex');
const step: Step = {
  runId: 'run',
  name: 'batch 4.1',
  kind: 'batch',
  state: 'ready',
  slice: { stream: 'posted', batch: 4, first: 1, bookings: 2 },
  bookings: 2,
  attempts: 0,
  tries: 0,
  waits: 0,
};

const claimOf = (claimed: Step): Claimed => ({
  run: someRun(),
  step: claimed,
  attempt: 1,
  token: 1,
  claimedAt: 0,
  mayRepeat: false,
});

describe('performing a batch', () => {
  it.each<[Verdict, Outcome]>([
    [
      { kind: 'accepted', ...said },
      { kind: 'done', evidence: { ...said, sha256 } },
    ],
    [
      { kind: 'fatal', ...said },
      {
        kind: 'fatal',
        evidence: { ...said, sha256 },
        advice: 'check service.baseUrl, apiKey and accountId',
      },
    ],
    [
      { kind: 'retryable', ...said, outcomeUnknown: true, refusedWhenSpent: false, retryAfterMs: 7 },
      {
        kind: 'retryable',
        evidence: { ...said, sha256 },
        outcomeUnknown: true,
        refusedWhenSpent: false,
        retryAfterMs: 7,
      },
    ],
  ])('that the service answers with $kind', async (verdict, outcome) => {
    const { delivery, sent } = prepare(verdict);
    const { signal } = new AbortController();
    expect(await delivery.perform({ ...claimOf(step), lines }, signal)).toEqual(outcome);
    expect(sent).toEqual([{ body: '{"Hotels":[{"ServiceId":2},{"ServiceId":3}]}', signal }]);
  });

  it('sends nothing for a batch that the ledger does not have', async () => {
    const { delivery, sent } = prepare({ kind: 'accepted', ...said });
    const { signal } = new AbortController();
    const perform = delivery.perform(claimOf(step), signal);
    await expect(perform).rejects.toThrow(new RangeError('no posted batch 4 in the ledger'));
    expect(sent).toEqual([]);
  });
});

function prepare(verdict: Verdict) {
  const sent: { readonly body: string; readonly signal: AbortSignal }[] = [];
  const delivery = createBodyDelivery({
    service: {
      async reviewBookedHotels(body, { signal }) {
        sent.push({ body: Buffer.from(body).toString(), signal });
        return verdict;
      },
    },
    masterIdName: 'ServiceId',
    batchSize: 5,
  });
  return { delivery, sent };
}

it('the plan of a day has one step per stored batch, and together they contain every booking', () => {
  fc.assert(
    fc.property(fc.nat({ max: 20_000 }), fc.integer({ min: 20, max: 5_000 }), (all, batchSize) => {
      const sizes = Array.from({ length: Math.ceil(all / batchSize) }, (_, batch) =>
        Math.min(batchSize, all - batch * batchSize),
      );
      expect(planBatches(all, batchSize)).toEqual(
        sizes.map((bookings, batch) => ({
          ...{ name: `batch ${batch}`, kind: 'batch', bookings },
          slice: { stream: 'posted', batch, first: 0, bookings },
        })),
      );
    }),
    { numRuns: 30 },
  );
});

it('the halves of a batch contain its bookings between them, each at least one', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), fc.integer({ min: 2, max: 5_000 }), (first, bookings) => {
      const slice = { stream: 'posted', batch: 12, first, bookings } as const;
      const [left, right] = halveBatch({ name: 'batch 12', kind: 'batch', slice, bookings });
      expect([left.name, right.name]).toEqual(['batch 12.0', 'batch 12.1']);
      expect(left.slice).toEqual({ ...slice, bookings: left.bookings });
      expect(right.slice).toEqual({ ...slice, first: first + left.bookings, bookings: right.bookings });
      expect(left.bookings + right.bookings).toBe(bookings);
      expect(left.bookings - right.bookings).toBeOneOf([0, 1]);
    }),
  );
});
