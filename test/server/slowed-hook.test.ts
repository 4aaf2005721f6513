import { afterEach, describe, expect, it } from 'vitest';
import { nextHookSecret, hookSecret as secret } from '../support/hook-secrets.js';
import { ask, post, signed } from './hook-calls.js';
import { createHookRuns, now, startServer, stopServers } from './some-server.js';

afterEach(stopServers);

describe('the hook', () => {
  const startHook = async () => {
    let at = now;
    const runs = createHookRuns();
    const hook = { secret, runs };
    const { url } = await startServer({ hook, ledger: runs.ledger, clock: () => at });
    const pass = (seconds: number) => {
      at += seconds * 1_000;
    };
    return { runs, pass, call: (signing = {}) => ask(url, {}, { at, ...signing }) };
  };

  it('slows down a caller that guesses secrets, and accepts the right one all the same', async () => {
    const { call, runs, pass } = await startHook();
    for (let guess = 0; guess < 5; guess += 1)
      expect((await call({ with: nextHookSecret })).status).toBe(401);
    const refused = await call({ with: nextHookSecret });
    expect(refused).toMatchObject({ status: 429, body: { error: { class: 'too-many-attempts' } } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(runs.starts).toEqual([]);
    // A stranger behind the same proxy must not lock the hook.
    expect((await call()).status).toBe(202);
    // Nor does the right one let the stranger guess on.
    expect((await call({ with: nextHookSecret })).status).toBe(429);
    pass(1);
    expect((await call({ with: nextHookSecret })).status).toBe(401);
  });

  it('does not slow down a caller with the right secret and a wrong clock', async () => {
    const { call } = await startHook();
    for (let attempt = 0; attempt < 8; attempt += 1)
      expect((await call({ at: now - 3_600_000 })).status).toBe(401);
    expect((await call()).status).toBe(202);
  });

  it('slows down and logs the caller behind a proxy, not the proxy', async () => {
    const runs = createHookRuns();
    const hook = { secret, runs };
    const { url, logged } = await startServer({ hook, ledger: runs.ledger, proxies: ['127.0.0.1'] });
    const call = (address: string) =>
      post(url, '{}', {
        ...signed('{}', { with: nextHookSecret }),
        'x-forwarded-for': `10.0.0.1, ${address}`,
      });
    for (let guess = 0; guess < 5; guess += 1) expect((await call('203.0.113.7')).status).toBe(401);
    expect((await call('203.0.113.7')).status).toBe(429);
    expect((await call('203.0.113.8')).status).toBe(401);
    expect(logged.map((line) => JSON.parse(line).caller)).toEqual([
      ...Array.from({ length: 6 }, () => '203.0.113.7'),
      '203.0.113.8',
    ]);
  });
});
