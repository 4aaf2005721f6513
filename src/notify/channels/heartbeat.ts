import { pause, startTimeLimit } from '../../base/abort.js';
import { createRetryDelays } from '../../base/retry.js';
import type { ProxyRules } from '../../transports/http/connection-rules.js';
import type { HttpResult, Transport } from '../../transports/http/transport.js';
import { type Beat, type HeartbeatKind, renderBeat } from './heartbeat-forms.js';

export interface HeartbeatOptions {
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
}

export type Heartbeat = ReturnType<typeof createHeartbeat>;

const maxAnswerBytes = 4_096;
/** Retries within seconds; an hour-old beat would no longer be true. */
const retries = { tries: 3, baseMs: 500, capMs: 2_000, retryAfterCapMs: 0, waits: 0 };
const once = { ...retries, tries: 1 };

/** The service that expects to hear of each night. */
export function createHeartbeat(options: HeartbeatOptions) {
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
      const call = renderBeat(kind, url, beat);
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
