import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { IdGenerator } from '@opentelemetry/sdk-trace-base';
import type { Run } from '../review/run.js';
import { codeOf } from '../text/safe-error.js';

type SpanIds = Pick<SpanContext, 'traceId' | 'spanId'>;

/** Generates random ids, except for a span that is to have certain ones. */
export interface ChosenIds extends IdGenerator {
  during<Result>(ids: SpanIds, start: () => Result): Result;
}

export function createChosenIds(): ChosenIds {
  let chosen: SpanIds | undefined;
  return {
    generateTraceId: () => chosen?.traceId ?? randomBytes(16).toString('hex'),
    generateSpanId: () => chosen?.spanId ?? randomBytes(8).toString('hex'),
    during(ids, start) {
      chosen = ids;
      try {
        return start();
      } finally {
        chosen = undefined;
      }
    },
  };
}

/** The span of a run, from its start or take-over to its end or the next take-over. */
export type RunPart = Pick<Run, 'id' | 'token'>;

/** The same in all processes, so that those that only perform steps know the parent of their spans. */
export function identifyRunPart({ id, token }: RunPart): SpanIds {
  const digest = createHash('sha256').update(`${id} ${token}`).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

export interface Spans {
  /** The span of the work that the caller is a part of. */
  current(): Span | undefined;
  /** Performs work that the span is about. */
  within<Result>(span: Span, work: () => Result): Result;
  startRoot(name: string, options: SpanOptions): Span;
  startRunPart(part: RunPart, options: SpanOptions): Span;
  /** Stands for the span of a run's part, which another process may have. Never ended. */
  standForRunPart(part: RunPart): Span;
  startChild(parent: Span, name: string, options: SpanOptions): Span;
}

export function createSpans(tracer: Tracer, ids: ChosenIds): Spans {
  const working = new AsyncLocalStorage<Span>();
  const startRoot: Spans['startRoot'] = (name, options) => tracer.startSpan(name, options, ROOT_CONTEXT);
  const startRunPart: Spans['startRunPart'] = (part, options) =>
    ids.during(identifyRunPart(part), () => startRoot('run', options));
  return {
    current: () => working.getStore(),
    within: (span, work) => working.run(span, work),
    startRoot,
    startRunPart,
    // The sampler decides by the ids, so it decides the same everywhere.
    standForRunPart: (part) => startRunPart(part, {}),
    startChild: (parent, name, options) =>
      tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent)),
  };
}

/** @param error a short code; undefined for a success */
export function endSpan(span: Span, error: string | undefined, attributes: Attributes = {}): void {
  span.setAttributes(attributes);
  if (error !== undefined) {
    span.setAttribute('error.type', error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** A code or the name of an error; never its message, which may hold anything. */
export function nameError(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
}

/** Awaits the work, and ends the span with its result or error. */
export async function endAfter<Result>(
  span: Span,
  work: Promise<Result>,
  describe?: (result: Result) => Attributes,
): Promise<Result> {
  try {
    const result = await work;
    endSpan(span, undefined, describe?.(result));
    return result;
  } catch (error) {
    endSpan(span, nameError(error));
    throw error;
  }
}
