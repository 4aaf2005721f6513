import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import type { RunningCommand } from '../support/command.js';
import type { DayFolder, StartOptions } from '../support/day-folder.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { expectNoLeak } from '../support/leaks.js';
import { patienceMs } from '../support/patience.js';
import { findFreePort } from '../support/sftp-server.js';

const timezone = 'Europe/Madrid';

/** In the time zone of the tests. */
export const yesterday = businessDayAt(new Date(), timezone).previous();

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
  await vi.waitUntil(async () => (await serving.get('/days/2026-01-01')).status === 200, {
    timeout: patienceMs,
    interval: 10,
  });
  return serving;
}

let ids = 0;

/** The headers of a request, signed by the Standard Webhooks library. */
export function sign(body: string, { id = nextId(), at = Date.now() }: Signing = {}): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
  };
}

function nextId(): string {
  ids += 1;
  return `msg_${ids}`;
}
