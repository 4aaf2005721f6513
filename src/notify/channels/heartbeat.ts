import { pause, startTimeLimit } from '../../base/abort.js';
import { createRetryDelays } from '../../base/retry.js';
import type { Counts } from '../../rules/run.js';
import type { HttpResult, Transport } from '../../transports/http/transport.js';
import type { ProxyRules } from '../../transports/http/tunnel.js';

export type Heartbeat = ReturnType<typeof createHeartbeat>;

const maxAnswerBytes = 4_096;
/** Retries within seconds; an hour-old beat would no longer be true. */
const retries = { tries: 3, baseMs: 500, capMs: 2_000, retryAfterCapMs: 0, waits: 0 };
const once = { ...retries, tries: 1 };

/** The service that expects to hear of each night. */
export function createHeartbeat(options: {
  readonly kind: HeartbeatKind;
  /** A secret: whoever has it can report that all is well. */
  readonly url: string;
  readonly proxy?: ProxyRules | undefined;
  /** Uniform in [0, 1) */
  readonly random: () => number;
  /** The time limit for a start, which must not delay the end that follows it. */
  readonly startMs?: number;
  /** The time limit for the end of a run, including retries. */
  readonly endMs?: number;
}) {
  const { kind, proxy, random, startMs = 2_000, endMs = 30_000 } = options;
  const url = new URL(options.url);
  let opened: Promise<Transport> | undefined;

  async function open(): Promise<Transport> {
    // Loaded on demand: a process that ends no run needs no client.
    const { createTransport } = await import('../../transports/http/transport.js');
    const limits = { timeoutMs: endMs, connectTimeoutMs: endMs, maxAnswerBytes };
    return createTransport({ origin: url.origin, connections: 1, ...limits, proxy });
  }

  return {
    /** Returns a short code if the service did not accept it, such as `http-404`. @throws the signal's reason */
    async send(beat: Beat, signal: AbortSignal): Promise<string | undefined> {
      const call = forms[kind](url, beat);
      if (call === undefined) return undefined;
      const { method, path, body } = call;
      opened ??= open();
      const transport = await opened;
      const isStart = beat.state === 'start';
      const limit = startTimeLimit(signal, isStart ? startMs : endMs);
      const nextDelayMs = createRetryDelays(isStart ? once : retries, random);
      const request = {
        method,
        path,
        headers: ['user-agent', 'booked-hotel-review', ...(body ? ['content-type', 'text/plain'] : [])],
        ...(body !== undefined && { body: Buffer.from(body) }),
        signal: limit.signal,
      };
      try {
        for (;;) {
          const code = readCode(await transport.call(request));
          const delayMs = code === undefined ? undefined : nextDelayMs();
          if (delayMs === undefined) return code;
          await pause(delayMs, limit.signal);
        }
      } catch (error) {
        if (limit.isOver()) return 'timeout';
        throw error;
      } finally {
        limit.stop();
      }
    },
    /** Idempotent. */
    async close(): Promise<void> {
      await (await opened)?.close();
    },
  };
}

function readCode({ answer, failure }: HttpResult): string | undefined {
  if (answer === undefined) return failure?.code ?? 'network-error';
  return answer.status >= 200 && answer.status < 300 ? undefined : `http-${answer.status}`;
}

export const heartbeatKinds = ['healthchecks', 'uptime-kuma', 'cronitor'] as const;
export type HeartbeatKind = (typeof heartbeatKinds)[number];

/** What a heartbeat service is told: numbers and codes, nothing of a booking. */
export interface Beat {
  readonly state: 'start' | 'success' | 'failure';
  /** YYYY-MM-DD */
  readonly day: string;
  /** Absent if the day failed without a run, or nothing has been counted yet. */
  readonly run?: {
    readonly id: string;
    readonly counts: Counts;
    readonly durationMs: number;
  };
  /** Why it failed. */
  readonly code?: string;
}

interface BeatCall {
  readonly method: 'GET' | 'POST';
  /** From the root, including the query. */
  readonly path: string;
  readonly body?: string;
}

/** The call in the form of each service; undefined if it has none for this. Keeps the query of the configured address. */
const forms: Readonly<Record<HeartbeatKind, (url: URL, beat: Beat) => BeatCall | undefined>> = {
  healthchecks: renderHealthchecks,
  'uptime-kuma': renderUptimeKuma,
  cronitor: renderCronitor,
};

const healthchecksEnds = { start: '/start', success: '', failure: '/fail' };

/** The body is shown with the event. */
function renderHealthchecks({ pathname, search }: URL, beat: Beat): BeatCall {
  const { day, run, code } = beat;
  const facts = {
    day,
    ...(run && { run: run.id }),
    ...(code !== undefined && { failure: code }),
    ...(run && beat.state !== 'start' && run.counts),
  };
  const body = Object.entries(facts).map(([name, value]) => `${name}: ${value ?? 'unknown'}\n`);
  return {
    method: 'POST',
    path: `${pathname.replace(/\/$/, '')}${healthchecksEnds[beat.state]}${search}`,
    body: body.join(''),
  };
}

/** It has no start signal. The address that it shows already has all parameters. */
function renderUptimeKuma(url: URL, beat: Beat): BeatCall | undefined {
  const { state, run } = beat;
  if (state === 'start') return undefined;
  return get(url, [
    ['status', state === 'success' ? 'up' : 'down'],
    ['msg', describe(beat)],
    ['ping', run ? `${run.durationMs}` : ''],
  ]);
}

const cronitorStates = { start: 'run', success: 'complete', failure: 'fail' };

function renderCronitor(url: URL, beat: Beat): BeatCall {
  const { state, run } = beat;
  const { delivered, rejected, refused } = run?.counts ?? { delivered: 0, rejected: 0, refused: 0 };
  return get(url, [
    ['state', cronitorStates[state]],
    ...(run ? [['series', run.id] as const] : []),
    ['message', describe(beat)],
    ...(run && state !== 'start'
      ? ([
          ['metric', `count:${delivered}`],
          ['metric', `error_count:${rejected + refused}`],
          ['metric', `duration:${run.durationMs / 1000}`],
        ] as const)
      : []),
  ]);
}

/** Replaces parameters of these names in the address. */
function get({ pathname, searchParams }: URL, parameters: readonly (readonly [string, string])[]): BeatCall {
  const query = new URLSearchParams(searchParams);
  for (const [name] of parameters) query.delete(name);
  for (const [name, value] of parameters) query.append(name, value);
  return { method: 'GET', path: `${pathname}?${query}` };
}

/** On one line. */
function describe({ state, day, run, code }: Beat): string {
  if (state === 'start') return `${day}: started`;
  const counts = ['accepted', 'delivered', 'rejected', 'refused', 'pending'] as const;
  return [
    `${day}: ${state === 'success' ? 'succeeded' : `failed${code === undefined ? '' : ` (${code})`}`}`,
    ...(run ? counts.map((name) => `${run.counts[name]} ${name}`) : []),
  ].join(', ');
}
