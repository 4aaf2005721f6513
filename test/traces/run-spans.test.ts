import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import type { HotelReviewEvent } from '../../src/events/events.js';
import type { Delivery, StepOutcome } from '../../src/review/delivery.js';
import type { Claimed } from '../../src/review/step.js';
import { createRunSpans } from '../../src/traces/run-spans.js';
import { createChosenIds, createSpans } from '../../src/traces/spans.js';
import { collectingRun, deliveringRun, opened, step, stepEnded } from '../cli/events.js';
import { someRun } from '../review/some-run.js';

const done: StepOutcome = { kind: 'done', evidence: { code: 'ok' } };
const delivery = { perform: async () => done } as unknown as Delivery;

/** A process whose spans are kept. */
function traceProcess(sampler?: TraceIdRatioBasedSampler) {
  const exporter = new InMemorySpanExporter();
  const idGenerator = createChosenIds();
  const provider = new BasicTracerProvider({
    idGenerator,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  });
  const spans = createSpans(provider.getTracer('test'), idGenerator);
  const runs = createRunSpans(spans, () => 0);
  const traced = runs.traceSteps(delivery);
  return {
    observe: (...events: readonly HotelReviewEvent[]) => {
      for (const event of events) void runs.observe(event);
    },
    perform: (run = deliveringRun(0, 500), attempt = 1) =>
      traced.perform({ run, step, attempt } as Claimed, new AbortController().signal),
    end: runs.end,
    ended: () => exporter.getFinishedSpans(),
    names: () => exporter.getFinishedSpans().map(({ name }) => name),
  };
}

const idsOf = (span: ReadableSpan | undefined) => span?.spanContext();
const errorOf = (span: ReadableSpan | undefined) => span?.attributes['error.type'];

describe('the spans of a run', () => {
  it('end with it, whichever process settled it', () => {
    for (const end of ['settled', 'watched'] as const) {
      const one = traceProcess();
      one.observe(opened(), { type: end, run: someRun({ state: 'succeeded' }) });
      expect(one.names()).toEqual(['collect', 'run']);
      expect(one.ended().at(-1)?.attributes['hotel_review.run.state']).toBe('succeeded');
      one.end();
      expect(one.ended()).toHaveLength(2);
    }
  });

  it('do not end while others still have work', () => {
    const one = traceProcess();
    one.observe(opened(deliveringRun(0, 500)), { type: 'watched', run: deliveringRun(0, 500) });
    expect(one.names()).toEqual([]);
  });

  it('end when a source is retried, and when a process resumes a run', () => {
    const run = collectingRun();
    const one = traceProcess();
    one.observe(opened(run), { type: 'source-still-missing', run });
    expect(one.ended().map(errorOf)).toEqual(['source-missing', 'source-missing']);
    one.observe(opened(run), opened({ ...run, token: 2 }, true));
    expect(one.names()).toEqual(['collect', 'run', 'collect', 'run']);
  });

  it('have the same ids in every process, and new ones after a take-over, with a link', async () => {
    const [starter, worker] = [traceProcess(), traceProcess()];
    const run = deliveringRun(0, 500);
    starter.observe(opened(run), { type: 'settled', run });
    await worker.perform(run);
    worker.observe(stepEnded(500, 500));
    const root = starter.ended().at(-1);
    expect(worker.names()).toEqual(['step batch']);
    expect(worker.ended()[0]?.parentSpanContext).toMatchObject({ spanId: idsOf(root)?.spanId });
    expect(idsOf(worker.ended()[0])?.traceId).toBe(idsOf(root)?.traceId);

    const resumed = { ...run, token: 2 };
    starter.observe(opened(resumed, true), { type: 'settled', run: resumed });
    const [second] = starter.ended().slice(-1);
    expect(idsOf(second)?.traceId).not.toBe(idsOf(root)?.traceId);
    expect(second?.links.map(({ context }) => context.spanId)).toEqual([idsOf(root)?.spanId]);
  });

  it('of a process that joins are its own, linked to those of the run', async () => {
    const [starter, helper] = [traceProcess(), traceProcess()];
    const run = deliveringRun(0, 500);
    starter.observe(opened(run), { type: 'settled', run });
    helper.observe({ type: 'run-opened', run, isResumed: true, isJoined: true });
    await helper.perform(run);
    helper.observe(stepEnded(500, 500), { type: 'settled', run });
    const [root, performed, joined] = [...starter.ended(), ...helper.ended()];
    expect(joined?.name).toBe('run');
    expect(idsOf(joined)?.spanId).not.toBe(idsOf(root)?.spanId);
    expect(joined?.links.map(({ context }) => context.spanId)).toEqual([idsOf(root)?.spanId]);
    expect(performed?.parentSpanContext?.spanId).toBe(idsOf(root)?.spanId);
  });

  it('are sampled as a whole: every process decides by the ids', async () => {
    const sampler = new TraceIdRatioBasedSampler(0.5);
    const [starter, worker] = [traceProcess(sampler), traceProcess(sampler)];
    const runs = Array.from({ length: 200 }, (_, index) => ({
      ...deliveringRun(0, 500),
      id: `run-${index}`,
    }));
    for (const run of runs) {
      starter.observe(opened(run), { type: 'settled', run });
      await worker.perform(run);
    }
    worker.end();
    const tracesOf = (process: typeof starter) =>
      new Set(process.ended().map((span) => idsOf(span)?.traceId));
    expect(tracesOf(worker)).toEqual(tracesOf(starter));
    expect(tracesOf(starter).size).toBeGreaterThan(50);
    expect(tracesOf(starter).size).toBeLessThan(150);
  });
});

describe('the span of a step', () => {
  it.each<[string, HotelReviewEvent, string]>([
    ['was taken over', { type: 'superseded', runId: step.runId, step: step.name }, 'superseded'],
    [
      'met a bug',
      { type: 'faulted', runId: step.runId, step: step.name, error: new Error('Zwitscherfink') },
      'internal-fault',
    ],
  ])('ends where it %s', async (_what, event, code) => {
    const one = traceProcess();
    await one.perform();
    one.observe(event);
    expect(one.ended().map(errorOf)).toEqual([code]);
    expect(JSON.stringify(one.ended()[0]?.attributes)).not.toContain('Zwitscherfink');
  });

  it('ends with its next attempt or with the process, where its end was not reported', async () => {
    const one = traceProcess();
    await one.perform();
    await one.perform(undefined, 2);
    one.end();
    expect(one.ended().map(errorOf)).toEqual(['superseded', 'interrupted']);
    one.end();
    expect(one.ended()).toHaveLength(2);
  });
});
