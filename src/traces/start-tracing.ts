import { randomUUID } from 'node:crypto';
import { TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { codeOf } from '../text/safe-error.js';
import { createCallWatch, traceSftpServer } from './call-spans.js';
import { createRunSpans } from './run-spans.js';
import { createChosenIds, createSpans, endAfter } from './spans.js';
import type { Tracing } from './tracing.js';
import { describeWork } from './work-spans.js';

/** How long the end of a process waits for the collector. */
const flushMs = 3_000;

export interface TracingOptions {
  /** The collector's address for traces over OTLP/HTTP. */
  readonly url: string;
  readonly version: string;
  readonly clock: () => number;
  /** Called with the first failure to send. */
  readonly onFailure: (reason: string) => void;
  /** Called at the end if spans did not arrive. */
  readonly onLoss: (loss: SpanLoss) => void;
}

export interface SpanLoss {
  readonly lost: number;
  readonly of: number;
  /** Short and safe. */
  readonly reason: string;
}

/**
 * Traces the work of this process. Everything but the address is configured by the variables of OpenTelemetry, which
 * its libraries read themselves: headers, certificates, sampler, limits, the service's name.
 */
export function startTracing({ url, version, clock, onFailure, onLoss }: TracingOptions): Tracing {
  const ids = createChosenIds();
  const counted = countSpans(new OTLPTraceExporter({ url }), onFailure);
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    resource: describeService(version),
    spanProcessors: [counted.processor, new BatchSpanProcessor(counted.exporter)],
  });
  const spans = createSpans(provider.getTracer('booked-hotel-review', version), ids);
  const runs = createRunSpans(spans, clock);
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    runs.end();
    const isInTime = await endsWithin(flushMs, provider.shutdown());
    const { lost, of, reason } = counted.sum();
    if (lost === 0) return;
    const usual = isInTime ? 'queue-full' : 'no-answer';
    onLoss({ lost, of, reason: reason ?? usual });
  }

  return {
    observe(event) {
      describeWork(spans, event);
      return runs.observe(event);
    },
    watchCall: createCallWatch(spans),
    traceSftp: (server, address) => traceSftpServer(spans, server, address),
    traceSteps: runs.traceSteps,
    traceWork(name, work) {
      const span = spans.startRoot(name, {});
      return endAfter(span, spans.within(span, work));
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Each process is an instance of the service, so that one sees which worker performed a step. */
function describeService(version: string) {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'hotel-review',
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Counts the spans that ended and those that arrived. The difference was refused, or dropped because the queue was full. */
function countSpans(exporter: SpanExporter, onFailure: (reason: string) => void) {
  let ended = 0;
  let arrived = 0;
  let reason: string | undefined;
  const processor: SpanProcessor = {
    onStart() {},
    onEnd(span) {
      if (span.spanContext().traceFlags & TraceFlags.SAMPLED) ended += 1;
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const counting: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error === undefined) arrived += spans.length;
        else {
          if (reason === undefined) onFailure(nameFailure(result.error));
          reason = nameFailure(result.error);
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  return {
    processor,
    exporter: counting,
    sum: () => ({ lost: ended - arrived, of: ended, reason }),
  };
}

/** The collector's words may hold anything. */
function nameFailure(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? `http-${code}` : (codeOf(error) ?? 'not-sent');
}

/** Whether the work ends in time. A failure is an end. */
async function endsWithin(milliseconds: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
