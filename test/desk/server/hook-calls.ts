import { Webhook } from 'standardwebhooks';
import { hookPath } from '../../../src/desk/server/hook.js';
import { createGate } from '../../support/gate.js';
import { hookSecret } from '../../support/hook-secrets.js';
import { createHookRuns, now, type Parts, startServer } from './some-server.js';

interface HookParts extends Parts {
  readonly secret?: string;
  readonly runs?: ReturnType<typeof createHookRuns>;
}

/** A server with the hook, whose runs are only remembered. */
export async function startHook({ secret = hookSecret, runs = createHookRuns(), ...parts }: HookParts = {}) {
  return { runs, ...(await startServer({ ...parts, hook: { secret, runs }, ledger: runs.ledger })) };
}

/** The same, whose runs start when the gate is opened. */
export async function startGatedHook(limits: Parts['limits'] = {}) {
  const [gate, asked, runs] = [createGate(), createGate(), createHookRuns()];
  const start: typeof runs.start = async (...request) => {
    asked.open();
    await gate.passed;
    return runs.start(...request);
  };
  return { ...(await startHook({ runs: { ...runs, start }, limits })), gate, asked };
}

export interface Signing {
  readonly id?: string;
  readonly with?: string;
  /** Epoch milliseconds */
  readonly at?: number;
}

/** The headers of a request that the library of Standard Webhooks has signed. */
export function signed(body: string, { id = 'msg_1', with: key = hookSecret, at = now }: Signing = {}) {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(key).sign(id, new Date(at), body),
  };
}

interface HookBody {
  readonly runId: string;
  readonly statusUrl: string;
  readonly error: { readonly class: string; readonly message: string };
}

export async function post(url: string, body: RequestInit['body'], headers: Record<string, string>) {
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, duplex: 'half' };
  if (body !== undefined && body !== null) init.body = body;
  const response = await fetch(`${url}${hookPath}`, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as HookBody };
}

/** Asks for a day, signed. */
export function ask(url: string, content: unknown, signing: Signing = {}) {
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  return post(url, body, signed(body, signing));
}
