import { expect, it } from 'vitest';
import type { Role } from '../../src/access/roles.js';
import { admitHookCallers } from '../../src/desk/hook-callers.js';
import { readKeys, sign } from '../../src/http/webhook-signature.js';
import { checkCallersOf } from '../server/some-server.js';
import { hookSecret } from '../support/hook-secrets.js';
import { admitAs, now } from './some-desk.js';

const token = 'Zm9yLXRoZS1ob29rLW9mLXRoZS1lbmQtb2YtZGF5';
const address = '10.0.0.5';
const settings = { secrets: [hookSecret], tokens: [token] };
const identify =
  (checkCaller = checkCallersOf(settings), role?: Role) =>
  (headers: Record<string, string>) =>
    admitHookCallers(admitAs(role), checkCaller).identify({ headers, remoteAddress: address });
const hookCaller = { visitor: { role: 'viewer' }, signedInBy: 'hook', csrfToken: undefined };

it('A caller of the hook may view the desk with the same token or secret', async () => {
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

it('Guesses here and at the hook are counted together', async () => {
  const checkCaller = checkCallersOf(settings);
  const ask = identify(checkCaller);
  const call = (headers: Record<string, string>) => () =>
    checkCaller({ headers, body: new Uint8Array(), address });
  for (let guess = 0; guess < 3; guess += 1)
    expect(await ask({ authorization: `Bearer ${'x'.repeat(30)}${guess}` })).toBeUndefined();
  for (let guess = 0; guess < 2; guess += 1)
    expect(call({ authorization: `Bearer ${'y'.repeat(30)}${guess}` })).toThrow(
      'the bearer token is unknown',
    );
  const slowed = { status: 429, headers: { 'retry-after': '1' } };
  const right = { authorization: `Bearer ${token}` };
  await expect(ask(right)).rejects.toMatchObject(slowed);
  expect(call(right)).toThrow(expect.objectContaining(slowed));
  expect(await ask({})).toBeUndefined();
});

it('A password for a proxy in front does not count as a guess', async () => {
  const ask = identify();
  for (let request = 0; request < 20; request += 1)
    expect(await ask({ authorization: 'Basic b2xnYTpwYXNzd29yZA==' })).toBeUndefined();
  expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject(hookCaller);
});

it('Somebody who is signed in stays who they are', async () => {
  const ask = identify(undefined, 'admin');
  expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject({ visitor: { role: 'admin' } });
});
