import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createCallerFinder } from '../../../src/desk/access/caller.js';
import { createCallerCheck } from '../../../src/desk/server/check-caller.js';
import {
  nextHookSecret as other,
  plainHookSecret as plain,
  hookSecret as secret,
} from '../../support/hook-secrets.js';
import { ask, post, signed, startHook } from './hook-calls.js';
import { now } from './some-server.js';

const body = '{"day":"2026-11-20"}';

describe('a caller of the hook that signs', () => {
  it('may use a plain text as its secret, in each way that libraries read it', async () => {
    const encoded = Buffer.from(plain).toString('base64');
    const { url } = await startHook({ secret: encoded });
    const asText = new Webhook(encoded, { format: 'raw' }).sign('a', new Date(now), body);
    expect(
      (await post(url, body, { ...signed(body, { id: 'a' }), 'webhook-signature': asText })).status,
    ).toBe(202);
    expect((await ask(url, {}, { id: 'b', with: encoded })).status).toBe(202);
  });

  it('is refused where anything that it signed is different', async () => {
    const { url, runs } = await startHook();
    const ofOtherVersion = signed(body)['webhook-signature'].replace('v1', 'v2');
    for (const [sent, headers] of [
      ['{"day":"2026-11-19"}', {}],
      // The same, written otherwise.
      ['{ "day":"2026-11-20"}', {}],
      [body, { 'webhook-id': 'msg_2' }],
      [body, { 'webhook-signature': ofOtherVersion }],
      [body, { 'webhook-timestamp': '' }],
      [body, { 'webhook-timestamp': String(now) }],
    ] as const)
      expect([sent, headers, await post(url, sent, { ...signed(body), ...headers })]).toMatchObject([
        ...[sent, headers, { status: expect.toSatisfy((status) => [401, 429].includes(status)) }],
      ]);
    expect(runs.starts).toEqual([]);
  });

  it('is refused, with the reason, when its clock and ours are too far apart', async () => {
    const { url } = await startHook();
    expect((await ask(url, {}, { id: 'a', at: now - 300_000 })).status).toBe(202);
    expect((await ask(url, {}, { id: 'b', at: now + 300_000 })).status).toBe(202);
    const old = await ask(url, {}, { id: 'c', at: now - 301_000 });
    expect([old.status, old.body.error.message]).toEqual([401, expect.stringContaining('too old')]);
    const early = await ask(url, {}, { id: 'd', at: now + 301_000 });
    expect([early.status, early.body.error.message]).toEqual([401, expect.stringContaining('in the future')]);
    // Without the secret it learns nothing of our clock.
    const guess = await ask(url, {}, { with: other, at: now - 3_600_000 });
    expect(guess.body.error.message).toContain('webhook-signature does not match');
  });
});

describe('a caller of the hook that cannot sign', () => {
  const json = { 'content-type': 'application/json' };

  it('may give its request an id that can be stored, so that it can send it again', async () => {
    const { url, runs } = await startHook();
    const headers = { ...json, authorization: `Bearer ${secret}`, 'webhook-id': 'end-of-2026-11-20' };
    expect((await post(url, body, headers)).status).toBe(202);
    expect((await post(url, body, headers)).status).toBe(200);
    expect(runs.starts).toHaveLength(1);
    for (const [id, status] of [
      ['two words', 400],
      ['x'.repeat(256), 202],
      ['x'.repeat(257), 400],
    ] as const)
      expect((await post(url, body, { ...headers, 'webhook-id': id })).status).toBe(status);
  });

  it('is refused with no token, another token or another scheme', async () => {
    const { url, runs } = await startHook();
    for (const headers of [
      {},
      { authorization: `Bearer ${secret.slice(0, -1)}x` },
      { authorization: `Basic ${secret}` },
    ]) {
      const answer = await post(url, body, { ...json, ...headers });
      expect(answer).toMatchObject({ status: 401, body: { error: { class: 'unauthenticated' } } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(runs.starts).toEqual([]);
  });

  it('is not asked for a signature, but judged by the one that it has', async () => {
    const { url } = await startHook();
    const wrongly = { ...signed(body, { with: other }), authorization: `Bearer ${secret}` };
    expect((await post(url, body, wrongly)).status).toBe(401);
    expect((await post(url, body, json)).body.error.message).toContain('neither a signature');
  });
});

it('A hook that anybody could call is refused', () => {
  const make = (known: string) => () => createCallerCheck(known, createCallerFinder([]), () => now);
  for (const weak of ['', 'a-secret-of-23-letters-', 'whsec_c2hvcnQ='])
    expect(make(weak)).toThrow('anybody could guess it');
  expect(make('a-secret-of-24-letters-x')).not.toThrow();
  expect(createCallerCheck(undefined, createCallerFinder([]), () => now)).toBeUndefined();
});

describe('the hook', () => {
  const startSlowed = async () => {
    let at = now;
    const { url, runs } = await startHook({ clock: () => at });
    const pass = (seconds: number) => {
      at += seconds * 1_000;
    };
    return { runs, pass, call: (signing = {}) => ask(url, {}, { at, ...signing }) };
  };

  it('slows down a caller that guesses secrets, and accepts the right one all the same', async () => {
    const { call, runs, pass } = await startSlowed();
    for (let guess = 0; guess < 5; guess += 1) expect((await call({ with: other })).status).toBe(401);
    const refused = await call({ with: other });
    expect(refused).toMatchObject({ status: 429, body: { error: { class: 'too-many-attempts' } } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(runs.starts).toEqual([]);
    // A stranger behind the same proxy must not lock the hook.
    expect((await call()).status).toBe(202);
    // Nor does the right one let the stranger guess on.
    expect((await call({ with: other })).status).toBe(429);
    pass(1);
    expect((await call({ with: other })).status).toBe(401);
  });

  it('does not slow down a caller with the right secret and a wrong clock', async () => {
    const { call } = await startSlowed();
    for (let attempt = 0; attempt < 8; attempt += 1)
      expect((await call({ at: now - 3_600_000 })).status).toBe(401);
    expect((await call()).status).toBe(202);
  });

  it('slows down and logs the caller behind a proxy, not the proxy', async () => {
    const { url, logged } = await startHook({ proxies: ['127.0.0.1'] });
    const call = (address: string) =>
      post(url, '{}', {
        ...signed('{}', { with: other }),
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
