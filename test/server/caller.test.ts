import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { createCallerCheck } from '../../src/server/caller.js';
import { nextHookToken, hookSecret as secret, hookToken as token } from '../support/hook-secrets.js';
import { ask, post, signed } from './hook-calls.js';
import { createHookRuns, now, startServer, stopServers } from './some-server.js';

afterEach(stopServers);

const body = '{"day":"2026-11-20"}';
const bytesFrom = (first: number) => Buffer.from(Array.from({ length: 32 }, (_, place) => first + place));
const other = `whsec_${bytesFrom(1).toString('base64')}`;

async function startHook({ secrets = [] as string[], tokens = [] as string[], toleranceSeconds = 300 }) {
  const runs = createHookRuns();
  const hook = { secrets, tokens, toleranceSeconds, runs };
  return { runs, ...(await startServer({ hook, statuses: runs.statuses })) };
}

describe('a caller of the hook that signs', () => {
  it('is accepted with any of several secrets', async () => {
    const { url } = await startHook({ secrets: [other, secret] });
    expect((await ask(url, {}, { id: 'a', with: secret })).status).toBe(202);
    expect((await ask(url, {}, { id: 'b', with: other })).status).toBe(202);
  });

  it('is refused with a secret that was removed', async () => {
    const { url, runs } = await startHook({ secrets: [other] });
    const answer = await ask(url, {}, { with: secret });
    expect(answer).toMatchObject({ status: 401, body: { error: { class: 'unauthenticated' } } });
    expect(answer.headers.get('www-authenticate')).toBe('Webhook-Signature');
    expect(runs.starts).toEqual([]);
  });

  it('may use a plain text as its secret, in each way that libraries read it', async () => {
    const plain = bytesFrom(64).toString('base64');
    const { url } = await startHook({ secrets: [plain] });
    const asText = new Webhook(plain, { format: 'raw' }).sign('a', new Date(now), body);
    expect(
      (await post(url, body, { ...signed(body, { id: 'a' }), 'webhook-signature': asText })).status,
    ).toBe(202);
    expect((await ask(url, {}, { id: 'b', with: plain })).status).toBe(202);
  });

  it.each([
    ['another body', '{"day":"2026-11-19"}', {}],
    ['the same body, written otherwise', '{ "day":"2026-11-20"}', {}],
    ['another id', body, { 'webhook-id': 'msg_2' }],
    ['another moment', body, { 'webhook-timestamp': String(now / 1000 + 1) }],
    [
      'a signature of another version',
      body,
      { 'webhook-signature': signed(body)['webhook-signature'].replace('v1', 'v2') },
    ],
    ['an empty signature', body, { 'webhook-signature': '' }],
    ['no id', body, { 'webhook-id': '' }],
    ['no moment', body, { 'webhook-timestamp': '' }],
    ['a moment in words', body, { 'webhook-timestamp': 'now' }],
    ['a moment in milliseconds', body, { 'webhook-timestamp': String(now) }],
  ])('is refused with %s', async (_what, sent, headers) => {
    const { url, runs } = await startHook({ secrets: [secret] });
    const answer = await post(url, sent, { ...signed(body), ...headers });
    expect(answer).toMatchObject({ status: 401, body: { error: { class: 'unauthenticated' } } });
    expect(runs.starts).toEqual([]);
  });

  it('is refused, with the reason, when its clock and ours are too far apart', async () => {
    const { url } = await startHook({ secrets: [secret], toleranceSeconds: 60 });
    expect((await ask(url, {}, { id: 'a', at: now - 60_000 })).status).toBe(202);
    expect((await ask(url, {}, { id: 'b', at: now + 60_000 })).status).toBe(202);
    const old = await ask(url, {}, { id: 'c', at: now - 61_000 });
    expect([old.status, old.body.error.message]).toEqual([401, expect.stringContaining('too old')]);
    const early = await ask(url, {}, { id: 'd', at: now + 61_000 });
    expect([early.status, early.body.error.message]).toEqual([401, expect.stringContaining('in the future')]);
  });

  it('learns nothing of our clock without a secret', async () => {
    const { url } = await startHook({ secrets: [secret] });
    const answer = await ask(url, {}, { with: other, at: now - 3_600_000 });
    expect(answer.body.error.message).toContain('webhook-signature does not match');
  });

  it('is refused with an id that cannot be stored', async () => {
    const { url } = await startHook({ secrets: [secret] });
    expect((await ask(url, {}, { id: 'x'.repeat(256) })).status).toBe(202);
    expect((await ask(url, {}, { id: 'x'.repeat(257) })).status).toBe(400);
    expect((await ask(url, {}, { id: 'a b' })).status).toBe(400);
  });
});

describe('a caller of the hook that cannot sign', () => {
  const json = { 'content-type': 'application/json' };

  it('is accepted with any of several tokens', async () => {
    const { url, runs } = await startHook({ tokens: [token, nextHookToken] });
    for (const authorization of [`Bearer ${token}`, `bearer ${nextHookToken}`])
      expect((await post(url, body, { ...json, authorization })).status).toBe(202);
    expect(runs.starts).toEqual([
      { day: '2026-11-20', requestId: undefined },
      { day: '2026-11-20', requestId: undefined },
    ]);
  });

  it('may give its request an id, so that it can send it again', async () => {
    const { url, runs } = await startHook({ tokens: [token] });
    const headers = { ...json, authorization: `Bearer ${token}`, 'webhook-id': 'end-of-2026-11-20' };
    expect((await post(url, body, headers)).status).toBe(202);
    expect((await post(url, body, headers)).status).toBe(200);
    expect(runs.starts).toHaveLength(1);
    expect((await post(url, body, { ...headers, 'webhook-id': 'two words' })).status).toBe(400);
  });

  it.each([
    ['no token', {}],
    ['another token', { authorization: `Bearer ${token.slice(0, -1)}x` }],
    ['a longer token', { authorization: `Bearer ${token}2` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${token}` }],
  ])('is refused with %s', async (_what, headers) => {
    const { url, runs } = await startHook({ tokens: [token] });
    const answer = await post(url, body, { ...json, ...headers });
    expect(answer).toMatchObject({ status: 401, body: { error: { class: 'unauthenticated' } } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(runs.starts).toEqual([]);
  });

  it('is accepted like one that signs where both are configured', async () => {
    const { url } = await startHook({ secrets: [secret], tokens: [token] });
    expect((await post(url, body, { ...json, authorization: `Bearer ${token}` })).status).toBe(202);
    expect((await ask(url, {})).status).toBe(202);
    const wrongly = { ...signed(body, { with: other }), authorization: `Bearer ${token}` };
    expect((await post(url, body, wrongly)).status).toBe(401);
    expect((await post(url, body, json)).body.error.message).toContain('neither a signature');
  });
});

it('A hook that anybody could call is refused', () => {
  const make = (secrets: string[], tokens: string[]) => createCallerCheck({ secrets, tokens }, () => now);
  expect(() => make([''], [])).toThrow('anybody could guess it');
  expect(() => make([], [''])).toThrow('anybody could guess it');
  expect(() => make([], [token, 'a-token-of-23-letters-x'])).toThrow('anybody could guess it');
  expect(() => make([], ['a-token-of-24-letters-xx'])).not.toThrow();
});
