import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import type { Claimed, Outcome, Step } from '../../../src/rules/step.js';
import type { CallResult } from '../../../src/service/call-result.js';
import { someRun } from '../some-run.js';

const lines = Buffer.from('1,,,,,,\n2,,,,,,\n3,,,,,,\n');
const said = { code: 'some-code', httpStatus: 200, statusCode: 2000, answer: 'words' };
/** As the run names the master id, whatever it is called by now. */
const run = someRun({ masterIdName: 'HotelCode' });
const bytes = '{"Hotels":[{"HotelCode":2},{"HotelCode":3}]}';
const sha256 = createHash('sha256').update(bytes).digest('hex');
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
  run,
  step: claimed,
  attempt: 1,
  token: 1,
  claimedAt: 0,
  mayRepeat: false,
});

describe('performing a batch', () => {
  it.each<[CallResult, Outcome]>([
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
      { kind: 'retryable', ...said, outcomeUnknown: false, refusedWhenSpent: true, retryAfterMs: 7 },
      {
        kind: 'retryable',
        evidence: { ...said, sha256 },
        outcomeUnknown: false,
        refusedWhenSpent: true,
        retryAfterMs: 7,
      },
    ],
  ])('that the service answers with $kind', async (result, outcome) => {
    const { delivery, sent } = prepare(result);
    const { signal } = new AbortController();
    expect(await delivery.perform({ ...claimOf(step), lines }, signal)).toEqual(outcome);
    expect(sent).toEqual([{ body: bytes, signal }]);
  });

  it('sends the canary with the master id as its run names it', async () => {
    const { delivery, sent } = prepare({ kind: 'accepted', ...said });
    const { signal } = new AbortController();
    await delivery.perform(claimOf({ ...step, name: 'canary', kind: 'canary' }), signal);
    expect(sent.map(({ body }) => body)).toEqual(['{"Hotels":[{"HotelCode":9}]}']);
  });

  it('sends nothing for a batch that the ledger does not have', async () => {
    const { delivery, sent } = prepare({ kind: 'accepted', ...said });
    const { signal } = new AbortController();
    const perform = delivery.perform(claimOf(step), signal);
    await expect(perform).rejects.toThrow(new RangeError('no posted batch 4 in the ledger'));
    expect(sent).toEqual([]);
  });
});

function prepare(result: CallResult) {
  const sent: { readonly body: string; readonly signal: AbortSignal }[] = [];
  const delivery = createBodyDelivery({
    service: {
      async reviewBookedHotels(body, { signal }) {
        sent.push({ body: Buffer.from(body).toString(), signal });
        return result;
      },
    },
    masterIdName: 'ServiceId',
    batchSize: 5,
    findCanary: async () => ({ reference: 'C', line: '9,,,,,,', withinMs: 1, runId: run.id, day: run.day }),
  });
  return { delivery, sent };
}
