import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type BusinessDay, businessDayAt } from '../../../src/booking/business-day.js';
import { createCallerFinder } from '../../../src/desk/access/caller.js';
import { type CheckCaller, createCallerCheck } from '../../../src/desk/server/check-caller.js';
import { createHealth, type HealthCheck } from '../../../src/desk/server/health.js';
import type { HookSettings } from '../../../src/desk/server/hook.js';
import { createEventCounters, createMetrics } from '../../../src/desk/server/metrics.js';
import {
  createServer,
  type Server,
  type ServerLimits,
  type ServerOptions,
} from '../../../src/desk/server/server.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { LedgerSummary } from '../../../src/ledger/runs.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../../review/some-run.js';
import { noRuns } from '../../schedule/ledger-days.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someFacts } from './some-facts.js';

/** In Madrid it is 2026-11-21, 03:30. */
export const now = Date.parse('2026-11-21T02:30:00Z');
export const timezone = 'Europe/Madrid';

/** What the server asks of a ledger, over these runs. */
export function ledgerOfRuns(runs: readonly Run[], summary: Partial<LedgerSummary> = {}): Ledger {
  return fakeLedger({
    runs: {
      async get(id) {
        const run = runs.find((one) => one.id === id);
        if (!run) throw new RangeError(`no run ${id}`);
        return run;
      },
      summarise: async () => ({ runsByState: noRuns, ...summary }),
    },
  });
}

/** Starts one run per day for the hook, in memory, and records the requests. */
export function createHookRuns() {
  const starts: {
    readonly day: string;
    readonly requestId: string | undefined;
    readonly expected?: number;
  }[] = [];
  const runs: Run[] = [];
  const answered = new Map<string, { readonly runId: string; readonly day: string }>();
  return {
    starts,
    ledger: ledgerOfRuns(runs),
    findFirstDay: async () => '2026-11-17',
    findRun: async (requestId: string) => answered.get(requestId),
    async start({ iso }: BusinessDay, requestId: string | undefined, expected?: number) {
      starts.push({ day: iso, requestId, ...(expected !== undefined && { expected }) });
      const known = runs.find(({ day }) => day === iso);
      const run = known ?? someRun({ id: `run-of-${iso}`, day: iso, trigger: 'hook', state: 'collecting' });
      if (!known) runs.push(run);
      if (requestId !== undefined) answered.set(requestId, { runId: run.id, day: run.day });
      return { runId: run.id, day: run.day };
    },
  };
}

export interface SomeServer {
  readonly url: string;
  readonly logged: string[];
  readonly server: Server;
}

export interface Parts {
  readonly host?: string;
  readonly port?: number;
  readonly hook?: Pick<HookSettings, 'runs'> & { readonly secret: string };
  readonly desk?: NonNullable<ServerOptions['desk']>;
  readonly ledger?: Ledger;
  readonly checks?: Readonly<Record<string, HealthCheck>>;
  readonly limits?: Partial<ServerLimits>;
  readonly clock?: () => number;
  readonly hosts?: readonly string[];
  readonly proxies?: readonly string[];
  readonly metricsToken?: string;
  readonly shortenPaths?: (text: string) => string;
  /** Stays open after the test: whoever started it closes it. */
  readonly stays?: boolean;
}

/** A check of callers that have this secret. */
export function checkCallersOf(secret: string, clock = () => now): CheckCaller {
  const checkCaller = createCallerCheck(secret, createCallerFinder([]), clock);
  if (!checkCaller) throw new RangeError('expected a secret');
  return checkCaller;
}

/** Starts a server on a free port, which is closed with the test. */
export async function startServer({
  host = '127.0.0.1',
  port = 0,
  hook,
  ledger = ledgerOfRuns([]),
  checks = {},
  limits,
  clock,
  proxies = [],
  stays = false,
  ...others
}: Parts = {}): Promise<SomeServer> {
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(JSON.stringify({ ...fields, message }));
  const time = clock ?? (() => now);
  const findCaller = createCallerFinder(proxies);
  const checkCaller = hook && createCallerCheck(hook.secret, findCaller, time);
  const server = createServer({
    host,
    port,
    timezone,
    findCaller,
    ...(hook && checkCaller && { hook: { runs: hook.runs, checkCaller } }),
    health: createHealth(checks, { clock: time, log: { info: note, error: note } }),
    metrics: createMetrics({
      counters: createEventCounters(time),
      readFacts: async () =>
        someFacts({ summary: await ledger.runs.summarise(businessDayAt(new Date(time()), timezone)) }),
      clock: time,
      timezone,
    }),
    clock: time,
    log: { info: note, error: note },
    ...(limits && { limits }),
    ...others,
  });
  if (!stays) onTestFinished(() => server.close());
  const { url } = await server.listen();
  return { url, logged, server };
}

/** A connection whose every byte we write, until the end of the test. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the other side ends the connection. */
export async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await once(socket, 'end');
  return text;
}
