import type { Attributes, Span } from '@opentelemetry/api';
import type { HotelReviewEvent, Observer } from '../events/events.js';
import type { Delivery } from '../review/delivery.js';
import type { ReviewEvent } from '../review/events.js';
import { type Counts, hasWork, type Run } from '../review/run.js';
import type { Step, StepEnding } from '../review/step.js';
import { endSpan, type Spans } from './spans.js';

/** The token of a run that was never taken over. */
const firstToken = 1;

/** A run that this process works on. */
interface OpenRun {
  readonly root: Span;
  readonly startedAt: number;
  readonly collecting: Span | undefined;
}

export interface RunSpans {
  readonly observe: Observer;
  /** Starts a span with each step, which the event of its end ends. */
  traceSteps(delivery: Delivery): Delivery;
  /** Ends all spans, because the process ends. */
  end(): void;
}

/**
 * A run is a trace: below its root are collecting, each attempt of a step, and the wait for the result. A run that was taken
 * over continues in a trace of its own, linked to the first one. Steps are children of the root in whichever process they
 * are performed, because its ids follow from the run's id and token.
 */
export function createRunSpans(spans: Spans, clock: () => number): RunSpans {
  const runs = new Map<string, OpenRun>();
  const steps = new Map<string, Span>();

  function openRun({ run, isResumed, isJoined }: ReviewEvent & { type: 'run-opened' }): void {
    endRun(run, {});
    const attributes = {
      ...nameRun(run),
      'hotel_review.run.delivery': run.delivery,
      'hotel_review.run.trigger': run.trigger,
      'hotel_review.run.resumed': isResumed,
      'hotel_review.run.joined': isJoined === true,
    };
    const linked = isJoined ? run : { ...run, token: firstToken };
    const links = isResumed ? [{ context: spans.standForRunPart(linked).spanContext() }] : [];
    const options = { attributes, links };
    const root = isJoined ? spans.startRoot('run', options) : spans.startRunPart(run, options);
    const collecting =
      run.collectedAt === undefined
        ? spans.startChild(root, 'collect', { attributes: nameRun(run) })
        : undefined;
    runs.set(run.id, { root, startedAt: clock(), collecting });
  }

  function endRun({ id }: Pick<Run, 'id'>, attributes: Attributes, error?: string): void {
    const open = runs.get(id);
    if (!open) return;
    runs.delete(id);
    if (open.collecting?.isRecording()) endSpan(open.collecting, error);
    endSpan(open.root, error, attributes);
  }

  function endStep(runId: string, step: string, attributes: Attributes = {}, error?: string): void {
    const key = keyOf(runId, step);
    const span = steps.get(key);
    if (!span) return;
    steps.delete(key);
    endSpan(span, error, attributes);
  }

  /** It began with the call that started the review, in whichever process that was. */
  function traceWait({ run, step, outcome, evidence }: ReviewEvent & { type: 'step-ended' }): void {
    const triggeredAt = run.file?.triggeredAt;
    const isOver = outcome !== 'retry' && outcome !== 'interrupted';
    if (step.kind !== 'await-result' || triggeredAt === undefined || !isOver) return;
    const span = spans.startChild(spans.standForRunPart(run), 'wait for result', {
      startTime: Math.max(triggeredAt, runs.get(run.id)?.startedAt ?? 0),
      attributes: nameRun(run),
    });
    endSpan(span, outcome === 'done' ? undefined : evidence.code);
  }

  function observe(event: HotelReviewEvent): void {
    switch (event.type) {
      case 'run-opened':
        return openRun(event);
      case 'collected': {
        const collecting = runs.get(event.run.id)?.collecting;
        if (collecting) endSpan(collecting, undefined, countBookings(event.run.counts));
        return;
      }
      case 'step-ended': {
        const { run, step, outcome, evidence } = event;
        traceWait(event);
        return endStep(run.id, step.name, describeEnd(event), findError(step, outcome, evidence.code));
      }
      case 'superseded':
        return endStep(event.runId, event.step, {}, 'superseded');
      case 'faulted':
        if (event.runId !== undefined && event.step !== undefined)
          endStep(event.runId, event.step, {}, 'internal-fault');
        return;
      case 'holding-off': {
        const { run, cause, code } = event;
        runs
          .get(run.id)
          ?.root.addEvent('holding-off', { 'hotel_review.cause': cause, 'hotel_review.code': code });
        return;
      }
      case 'settled':
        return endRun(event.run, describeRun(event.run), event.run.failure?.code);
      case 'watched':
        // Another process may have settled it.
        if (!hasWork(event.run)) endRun(event.run, describeRun(event.run), event.run.failure?.code);
        return;
      case 'source-still-missing':
        return endRun(event.run, {}, 'source-missing');
      default:
        return;
    }
  }

  return {
    observe,
    traceSteps: (delivery) => ({
      ...delivery,
      perform(claim, signal) {
        const { run, step, attempt } = claim;
        endStep(run.id, step.name, {}, 'superseded');
        const span = spans.startChild(spans.standForRunPart(run), `step ${step.kind}`, {
          attributes: {
            ...nameRun(run),
            'hotel_review.step.name': step.name,
            'hotel_review.step.kind': step.kind,
            'hotel_review.step.attempt': attempt,
            'hotel_review.step.bookings': step.bookings,
          },
        });
        steps.set(keyOf(run.id, step.name), span);
        return spans.within(span, () => delivery.perform(claim, signal));
      },
    }),
    end() {
      for (const span of steps.values()) endSpan(span, 'interrupted');
      steps.clear();
      for (const id of [...runs.keys()]) endRun({ id }, {});
    },
  };
}

function keyOf(runId: string, step: string): string {
  return `${runId} ${step}`;
}

function nameRun({ id, day }: Pick<Run, 'id' | 'day'>): Attributes {
  return { 'hotel_review.run.id': id, 'hotel_review.day': day };
}

function describeRun({ state, counts }: Run): Attributes {
  return { 'hotel_review.run.state': state, ...countBookings(counts) };
}

/** Null counts are not known. */
function countBookings(counts: Counts): Attributes {
  return Object.fromEntries(
    Object.entries(counts)
      .filter(([, count]) => count !== null)
      .map(([name, count]) => [`hotel_review.bookings.${name}`, count]),
  );
}

function describeEnd({ outcome, evidence }: ReviewEvent & { type: 'step-ended' }): Attributes {
  return { 'hotel_review.step.outcome': outcome, 'hotel_review.step.code': evidence.code };
}

/** That a result is not there yet is expected, and so are stops. */
function findError({ kind }: Step, outcome: StepEnding['kind'], code: string): string | undefined {
  const isExpected =
    outcome === 'done' || outcome === 'interrupted' || (outcome === 'retry' && kind === 'await-result');
  return isExpected ? undefined : code;
}
