import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { RunningCommand } from '../support/command.js';
import type { DayFolder, StartOptions } from '../support/day-folder.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { expectNoLeak } from '../support/leaks.js';
import { findFreePort } from '../support/sftp-server.js';
import { until } from './machines.js';

export const timezone = 'Europe/Madrid';

/** Today in the time zone of the tests, and the days around it. */
export const today = businessDayAt(new Date(), timezone);
export const yesterday = today.previous();

export interface Serving {
  readonly command: RunningCommand;
  /** Without a trailing slash. */
  readonly url: string;
  /** Returns status, body and headers of a call of the hook. */
  call(body: string | Uint8Array, headers: Record<string, string>): Promise<HookAnswer>;
  /** Requests a day, signed. */
  ask(day: string, signing?: Signing): Promise<HookAnswer>;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

export interface HookAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: { readonly runId?: string; readonly day?: string; readonly statusUrl?: string };
}

export interface Signing {
  readonly id?: string;
  readonly with?: string;
  /** Epoch milliseconds */
  readonly at?: number;
}

/** Resolves when it accepts calls. */
export async function serve(folder: DayFolder, options?: StartOptions): Promise<Serving> {
  const port = await findFreePort();
  const command = folder.start(['serve', '--port', `${port}`], options);
  await command.wrote('"serving"');
  const url = `http://127.0.0.1:${port}`;
  const serving: Serving = {
    command,
    url,
    async call(body, headers) {
      const response = await fetch(`${url}/hooks/end-of-day`, { method: 'POST', headers, body });
      const text = await response.text();
      expectNoLeak('an answer of the hook', text, [secret]);
      return { status: response.status, text, body: JSON.parse(text) };
    },
    ask(day, signing) {
      const body = JSON.stringify({ day });
      return serving.call(body, sign(body, signing));
    },
    async get(path) {
      const response = await fetch(`${url}${path}`);
      const text = await response.text();
      expectNoLeak(path, text, [secret]);
      return { status: response.status, text };
    },
  };
  // The first query brings the ledger's schema up to date, which may take longer than a caller of the hook waits.
  await until(async () => (await serving.get('/days/2026-01-01')).status === 200);
  return serving;
}

let ids = 0;

/** The headers of a request, signed by the Standard Webhooks library. */
export function sign(
  body: string,
  { id = nextId(), with: key = secret, at = Date.now() }: Signing = {},
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(key).sign(id, new Date(at), body),
  };
}

function nextId(): string {
  ids += 1;
  return `msg_${ids}`;
}

/** Waits until the process itself believes that it is this late. */
export async function untilItsClock({ url }: Serving, instant: string): Promise<void> {
  const readClock = async () => Date.parse((await fetch(`${url}/healthz`)).headers.get('date') ?? '');
  const due = Date.parse(instant);
  // It shows whole seconds.
  await pause(Math.max(0, due - (await readClock()) - 1_000));
  await until(async () => (await readClock()) >= due);
}
