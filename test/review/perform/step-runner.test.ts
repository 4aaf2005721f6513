import { describe, expect, it } from 'vitest';
import { createGate } from '../../support/gate.js';
import { prepareDelivery } from '../delivering.js';
import { inTurn, ok, refusal, unavailable } from '../scripted-service.js';

describe('the step runner', () => {
  it('keeps the service’s messages in the ledger and out of its events', async () => {
    const delivering = await prepareDelivery({ bookings: 1, batchSize: 1, answer: () => refusal });
    await delivering.feed();
    await delivering.workOff();
    expect(await delivering.ledger.bookings.trace('BR-0')).toMatchObject([
      { attempts: [{ answer: refusal.answer }] },
    ]);
    expect(delivering.events).toContainEqual(
      expect.objectContaining({ type: 'step-ended', outcome: 'refused', evidence: expect.anything() }),
    );
    expect(JSON.stringify(delivering.events)).not.toContain('Lovelace');
  });

  it('ends the run by a fatal answer, which is told once; what was in flight and is accepted still counts', async () => {
    const answers = createGate();
    const delivering = await prepareDelivery({
      bookings: 4,
      batchSize: 1,
      async answer([reference]) {
        await (reference !== 'BR-2' && answers.passed);
        return reference === 'BR-0' ? ok : { kind: 'fatal', code: 'http-403', httpStatus: 403 };
      },
    });
    const perform = (batch: number) =>
      delivering.perform({ runId: delivering.right.runId, step: `batch ${batch}`, attempt: 1 });
    const inFlight = [perform(0), perform(1)];
    await perform(2);
    answers.open();
    await Promise.all(inFlight);
    expect(await delivering.run()).toMatchObject({
      ...{ state: 'failed', failure: { class: 'fatal', code: 'http-403' } },
      counts: { delivered: 1, pending: 3 },
    });
    expect(delivering.events.filter(({ type }) => type === 'settled')).toHaveLength(1);
  });

  it('releases its slot when the batch was accepted; after another answer the run may have ended', async () => {
    const delivering = await prepareDelivery({
      bookings: 2,
      batchSize: 1,
      answer: inTurn([ok, unavailable]),
    });
    const { runId, token } = delivering.right;
    const { signal } = new AbortController();
    const left: string[] = [];
    for (const step of ['batch 0', 'batch 1']) {
      await delivering.performStep({ runId, step, attempt: 1 }, token, signal, () => left.push(step));
    }
    expect(left).toEqual(['batch 0']);
  });

  it('holds all workers off for as long as the service asks, up to the limit', async () => {
    const busy = { ...unavailable, code: 'http-429', retryAfterMs: 20_000 } as const;
    const delivering = await prepareDelivery({
      bookings: 2,
      batchSize: 1,
      answer: inTurn([busy, busy, { ...busy, retryAfterMs: 1e9 }, ok, ok]),
    });
    const { runId } = delivering.right;
    const started = delivering.clock();
    for (const step of ['batch 0', 'batch 1']) await delivering.perform({ runId, step, attempt: 1 });
    expect(delivering.heldOff).toEqual([started + 20_000, started + 20_000]);
    expect(delivering.events.filter(({ type }) => type === 'holding-off')).toHaveLength(1);
    expect(delivering.events).toContainEqual({
      type: 'holding-off',
      cause: 'asked',
      run: expect.objectContaining({ id: runId, day: '2026-11-20' }),
      until: started + 20_000,
      code: 'http-429',
    });
    await delivering.workOff();
    expect(delivering.heldOff[2]).toBe(started + 20_500 + 60_000);
    expect(delivering.accepted).toEqual(['BR-1', 'BR-0']);
  });

  it('counts the service as down after a few steps, and as up again with every step that gets an answer', async () => {
    const isDown = { now: true };
    const delivering = await prepareDelivery({
      bookings: 30,
      batchSize: 1,
      answer: () => (isDown.now ? unavailable : ok),
    });
    const { runId } = delivering.right;
    const perform = (batch: number) => delivering.perform({ runId, step: `batch ${batch}`, attempt: 1 });
    for (let batch = 0; batch < 4; batch += 1) await perform(batch);
    expect(delivering.heldOff).toEqual([]);
    await perform(4);
    expect(delivering.heldOff).toEqual([delivering.waiting.at(-1)?.notBefore]);
    expect(delivering.events.filter(({ type }) => type === 'holding-off')).toMatchObject([
      { cause: 'failing', run: { id: runId }, code: unavailable.code },
    ]);
    isDown.now = false;
    await perform(5);
    isDown.now = true;
    await perform(6);
    expect(delivering.heldOff).toHaveLength(1);
  });

  it('reopens a step that was stopped in mid-call, and queues it for other workers', async () => {
    const stop = new AbortController();
    const delivering = await prepareDelivery({
      bookings: 2,
      batchSize: 2,
      answer: (_, signal) => {
        stop.abort(new Error('stopped by SIGTERM'));
        return Promise.reject(signal.reason);
      },
    });
    const { runId } = delivering.right;
    await delivering.perform({ runId, step: 'batch 0', attempt: 1 }, stop.signal);
    expect(await delivering.run()).toMatchObject({ state: 'delivering', counts: { pending: 2 } });
    const open = await delivering.ledger.steps.listOpen(runId, { limit: 9 });
    expect(open).toMatchObject([{ name: 'batch 0', attempt: 2 }]);
    expect(delivering.waiting).toMatchObject([{ runId, step: 'batch 0', attempt: 2 }]);
  });

  it('rethrows an internal error, and leaves the step to the next take-over', async () => {
    const fault = new TypeError('a mistake of ours');
    const delivering = await prepareDelivery({
      bookings: 1,
      batchSize: 1,
      answer: () => Promise.reject(fault),
    });
    const { ledger } = delivering;
    const { runId } = delivering.right;
    await expect(delivering.perform({ runId, step: 'batch 0', attempt: 1 })).rejects.toBe(fault);
    expect(await ledger.steps.listOpen(runId, { limit: 9 })).toEqual([]);
    await ledger.runs.takeOver(runId);
    expect(await ledger.steps.listOpen(runId, { limit: 9 })).toMatchObject([{ name: 'batch 0', attempt: 2 }]);
  });
});
