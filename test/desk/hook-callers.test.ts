import { expect, it } from 'vitest';
import { admitHookCallers } from '../../src/desk/hook-callers.js';
import { readKeys, sign } from '../../src/http/webhook-signature.js';
import { hookSecret } from '../support/hook-secrets.js';
import { admitAs, now } from './some-desk.js';

const token = 'Zm9yLXRoZS1ob29rLW9mLXRoZS1lbmQtb2YtZGF5';
const settings = { secrets: [hookSecret], tokens: [token] };
const identify =
  (access = admitHookCallers(admitAs(undefined), settings, () => now)) =>
  (headers: Record<string, string>) =>
    access.identify({ headers, remoteAddress: '10.0.0.5' });
const hookCaller = { visitor: { role: 'viewer' }, signedInBy: 'hook', csrfToken: undefined };

it('A caller of the hook may look with the same token or secret', async () => {
  const ask = identify();
  expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject(hookCaller);
  const [key] = readKeys(hookSecret);
  const timestamp = String(Math.floor(now / 1000));
  const signature = sign({ id: 'a-1', timestamp, body: new Uint8Array() }, key);
  const signed = { 'webhook-id': 'a-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  expect(await ask(signed)).toMatchObject(hookCaller);
  expect(await ask({ ...signed, 'webhook-id': 'a-2' })).toBeUndefined();
  expect(await ask({})).toBeUndefined();
});

it('Who guesses is nobody for a while, even with the right token', async () => {
  const ask = identify();
  for (let guess = 0; guess < 20; guess += 1)
    expect(await ask({ authorization: `Bearer ${'x'.repeat(30)}${guess}` })).toBeUndefined();
  expect(await ask({ authorization: `Bearer ${token}` })).toBeUndefined();
});

it('Somebody who is signed in stays who they are', async () => {
  const ask = identify(admitHookCallers(admitAs('admin'), settings, () => now));
  expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject({ visitor: { role: 'admin' } });
});
