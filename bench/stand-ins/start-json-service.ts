import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What the service received between `begin` and `end`. */
export interface Received {
  readonly calls: number;
  readonly bookings: number;
  /** From the start of the first call to the end of the last answer. */
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export interface JsonService {
  /** With the version segment: `http://127.0.0.1:12345/api/3.0`. */
  readonly baseUrl: string;
  /** Resets the counters. */
  begin(options?: BeginOptions): Promise<void>;
  end(): Promise<Received>;
  close(): Promise<void>;
}

export interface BeginOptions {
  /** Latency of each answer in addition to reading; default 0. */
  readonly latencyMs?: number;
  /** Whether it parses each body or only reads it; default true. */
  readonly parses?: boolean;
  /** A new file for the received bodies, one per line. */
  readonly recordTo?: string;
}

export type ToService =
  | {
      readonly kind: 'begin';
      readonly latencyMs: number;
      readonly parses: boolean;
      readonly recordTo?: string;
    }
  | { readonly kind: 'end' };

export type FromService =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'begun' }
  | { readonly kind: 'ended'; readonly received: Received };

/** Starts the stand-in of the mapping service for delivery by body, in its own process. */
export async function startJsonService(): Promise<JsonService> {
  const child = fork(fileURLToPath(new URL('json-service.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
  });
  const { port } = await hear(child, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${port}/api/3.0`,
    async begin({ latencyMs = 0, parses = true, recordTo } = {}) {
      await ask(
        child,
        { kind: 'begin', latencyMs, parses, ...(recordTo !== undefined && { recordTo }) },
        'begun',
      );
    },
    end: async () => (await ask(child, { kind: 'end' }, 'ended')).received,
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function ask<Kind extends FromService['kind']>(child: ChildProcess, question: ToService, kind: Kind) {
  const answer = hear(child, kind);
  child.send(question);
  return answer;
}

async function hear<Kind extends FromService['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<FromService, { readonly kind: Kind }>> {
  const [message] = (await once(child, 'message')) as [FromService];
  if (message.kind === kind) return message as Extract<FromService, { readonly kind: Kind }>;
  throw new Error(`expected ${kind} of the service, got: ${message.kind}`);
}
