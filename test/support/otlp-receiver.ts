import { onTestFinished } from 'vitest';
import { type StandInHandler, startStandIn } from './http-stand-in.js';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for a root. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly isClient: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** What is known about the process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver {
  /** The variable that names it. */
  readonly env: { readonly OTEL_EXPORTER_OTLP_ENDPOINT: string };
  readonly port: number;
  /** All spans so far, in the order in which they ended. */
  spans(): readonly ReceivedSpan[];
  /** The only span with that name. @throws Error if there is none, or another one */
  span(name: string): ReceivedSpan;
  named(name: string): readonly ReceivedSpan[];
  /** Everything that was received: requests, headers and bodies. */
  bytes(): Buffer;
  /** Waits until that many requests have been read completely. */
  received(requests: number): Promise<void>;
}

interface Value {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
}

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

/** As in opentelemetry-proto, in JSON. */
interface SpanMessage {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface ExportMessage {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanMessage[] }[];
  }[];
}

const clientKind = 3;
const errorCode = 2;
const accepted: StandInHandler = () => ({ kind: 'json', body: {} });

/** A collector of OpenTelemetry, which takes spans over HTTP as JSON. Closed after the test. */
export async function startOtlpReceiver(handler = accepted): Promise<OtlpReceiver> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const spans = () =>
    standIn.requests
      .filter(({ url, body }) => url === '/v1/traces' && body.length > 0)
      .flatMap(({ body }) => (JSON.parse(body.toString()) as ExportMessage).resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans).map((span) => readSpan(span, resource.attributes)),
      )
      .sort((one, other) => one.endedAt - other.endedAt);
  const named = (name: string) => spans().filter((span) => span.name === name);
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${standIn.port}` },
    port: standIn.port,
    spans,
    named,
    span(name) {
      const [span, ...others] = named(name);
      if (span && others.length === 0) return span;
      throw new Error(`expected one span ${name}, got: ${spans().map((found) => found.name)}`);
    },
    bytes: () =>
      Buffer.concat(
        standIn.requests.flatMap(({ method, url, rawHeaders, body }) => [
          Buffer.from([method, url, ...rawHeaders].join('\n')),
          body,
        ]),
      ),
    received: standIn.received,
  };
}

/** The spans below that one, in the order in which they ended. */
export function childrenOf(receiver: OtlpReceiver, { traceId, spanId }: ReceivedSpan): ReceivedSpan[] {
  return receiver.spans().filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
}

function readSpan(span: SpanMessage, resource: readonly Attribute[]): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    name: span.name,
    isClient: span.kind === clientKind,
    startedAt: Number(span.startTimeUnixNano) / 1e6,
    endedAt: Number(span.endTimeUnixNano) / 1e6,
    hasFailed: span.status?.code === errorCode,
    attributes: readAttributes(span.attributes ?? []),
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    resource: readAttributes(resource),
  };
}

function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? doubleValue ?? Number(intValue),
    ]),
  );
}
