import { Webhook } from 'standardwebhooks';
import { hookPath } from '../../../src/desk/server/hook.js';
import { hookSecret } from '../../support/hook-secrets.js';
import { now } from './some-server.js';

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
