import { expect, it } from 'vitest';
import type { Role } from '../../src/storage/access/roles.js';
import { readKeys, sign } from '../../src/transports/http/webhook-signature.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { hookSecret } from '../support/hook-secrets.js';
import { addRun } from './operations/asking.js';
import { checkCallersOf } from './server/some-server.js';
import { now, startDesk } from './some-desk.js';

const ip = '127.0.0.1';
const bearer = { authorization: `Bearer ${hookSecret}` };
const wrong = (guess: number) => ({ authorization: `Bearer ${'wrong-token-number-of-many-'}${guess}` });

async function start({
  role,
  checkCaller = checkCallersOf(hookSecret),
}: {
  role?: Role;
  checkCaller?: ReturnType<typeof checkCallersOf>;
} = {}) {
  const ledger = await openTemporaryLedger(() => now);
  await addRun(ledger, { day: '2026-11-19', id: 'by-hook', trigger: 'hook' });
  await addRun(ledger, { day: '2026-11-20', id: 'by-night' });
  const { url } = await startDesk({
    ledger,
    role,
    checkCaller,
  });
  return async (path: string, headers: Record<string, string>) =>
    (await fetch(url + path, { headers, redirect: 'manual' })).status;
}

it('A caller of the hook may see a run that the hook started, by signature or by token', async () => {
  const ask = await start();
  expect(await ask('/runs/by-hook', bearer)).toBe(200);
  const [key] = readKeys(hookSecret);
  const timestamp = String(Math.floor(now / 1000));
  const signature = sign({ id: 'a-1', timestamp, body: new Uint8Array() }, key);
  const signed = { 'webhook-id': 'a-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  expect(await ask('/runs/by-hook', signed)).toBe(200);
  expect(await ask('/runs/by-hook', { ...signed, 'webhook-id': 'a-2' })).toBe(401);
  expect(await ask('/runs/by-hook', {})).toBe(401);
});

it('The credentials of the hook open nothing else', async () => {
  const ask = await start();
  expect(await ask('/runs/by-night', bearer)).toBe(403);
  for (const path of ['/', '/days/2026-11-20', '/runs/by-hook/rejected', '/cases', '/mappings', '/audit'])
    expect(await ask(path, bearer), path).toBe(401);
});

it('Guesses here and at the hook are counted together, and never lock out the right credentials', async () => {
  const checkCaller = checkCallersOf(hookSecret);
  const ask = await start({ checkCaller });
  const call = (headers: Record<string, string>) => () =>
    checkCaller({ headers, body: new Uint8Array(), ip });
  for (let guess = 0; guess < 3; guess += 1) expect(await ask('/runs/by-hook', wrong(guess))).toBe(401);
  for (let guess = 3; guess < 5; guess += 1)
    expect(call(wrong(guess))).toThrow('the bearer token is not the secret');
  expect(await ask('/runs/by-hook', wrong(5))).toBe(429);
  expect(call(wrong(6))).toThrow(expect.objectContaining({ status: 429, headers: { 'retry-after': '1' } }));
  expect(await ask('/runs/by-hook', bearer)).toBe(200);
  expect(call(bearer)).not.toThrow();
  // A success ends no wait: whoever has the right credentials would otherwise let others guess on.
  expect(await ask('/runs/by-hook', wrong(7))).toBe(429);
});

it('A password for a proxy in front does not count as a guess', async () => {
  const ask = await start();
  for (let request = 0; request < 20; request += 1)
    expect(await ask('/runs/by-hook', { authorization: 'Basic b2xnYTpwYXNzd29yZA==' })).toBe(401);
  expect(await ask('/runs/by-hook', wrong(1))).toBe(401);
});

it('Somebody who is signed in stays who they are', async () => {
  const ask = await start({ role: 'admin' });
  expect(await ask('/runs/by-night', bearer)).toBe(200);
});
