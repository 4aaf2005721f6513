import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/mapping-service/verdict.js';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import type { StepOutcome } from '../../../src/review/delivery.js';
import type { Claim, Step } from '../../../src/review/step.js';
import { someRun } from '../some-run.js';

const lines = Buffer.from('{"ServiceId":1}\n{"ServiceId":2}\n{"ServiceId":3}\n');
const said = { code: 'some-code', httpStatus: 200, statusCode: 2000, answer: 'words' };
const sha256 = createHash('sha256').update('{"Hotels":[{"ServiceId":2},{"ServiceId":3}]}').digest('hex');
const step: Step = {
  runId: 'run',
  name: 'batch 4.1',
  kind: 'batch',
  state: 'ready',
  slice: { form: 'body', batch: 4, first: 1, bookings: 2 },
  bookings: 2,
  attempts: 0,
  tries: 0,
  waits: 0,
};

const run = someRun();
const claimOf = (claimed: Step): Claim => ({
  step: claimed,
  attempt: 1,
  token: 1,
  claimedAt: 0,
  mayRepeat: false,
});

describe('performing a batch', () => {
  it.each<[Verdict, StepOutcome]>([
    [
      { kind: 'accepted', ...said },
      { kind: 'done', evidence: { ...said, sha256 } },
    ],
    [
      { kind: 'refused', ...said },
      { kind: 'refused', evidence: { ...said, sha256 } },
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
    [
      { kind: 'retryable', ...said, outcomeUnknown: false, refusedWhenSpent: true },
      {
        kind: 'retryable',
        evidence: { ...said, sha256 },
        outcomeUnknown: false,
        refusedWhenSpent: true,
        retryAfterMs: undefined,
      },
    ],
  ])('that the service answers with $kind', async (verdict, outcome) => {
    const { delivery, sent } = prepare(verdict);
    const { signal } = new AbortController();
    expect(await delivery.perform(claimOf(step), { run, lines, signal })).toEqual(outcome);
    expect(sent).toEqual([{ body: '{"Hotels":[{"ServiceId":2},{"ServiceId":3}]}', signal }]);
  });

  it('takes only steps that are batches', async () => {
    const { delivery, sent } = prepare({ kind: 'accepted', ...said });
    const { slice: _, ...noBatch } = step;
    const { signal } = new AbortController();
    const perform = delivery.perform(claimOf({ ...noBatch, name: 'upload' }), { run, signal });
    await expect(perform).rejects.toThrow(new TypeError('expected a batch, got: upload'));
    expect(sent).toEqual([]);
  });

  it('sends nothing of a batch that the ledger does not hold', async () => {
    const { delivery, sent } = prepare({ kind: 'accepted', ...said });
    const { signal } = new AbortController();
    const perform = delivery.perform(claimOf(step), { run, signal });
    await expect(perform).rejects.toThrow(new RangeError('no body batch 4 in the ledger'));
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
