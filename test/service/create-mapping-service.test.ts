import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { probeService } from '../../src/service/client.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { errorOf, openService, serviceAt } from './opened-service.js';

const apiKey = 'canary-key-5f0c7e3b';
const accountId = 'canary-account-77';
const guest = 'Zoë Okonjo';

describe('the service', () => {
  it.each<[string, object, RegExp]>([
    ['an address that is refused', { baseUrl: 'http://service.example.com/?key=s3cret' }, /baseUrl must/],
    ['an empty key', { apiKey: '' }, /apiKey/],
    ['a key with the line end of its file', { apiKey: 's3cret\n' }, /apiKey/],
    ['an account outside ASCII', { accountId: 's3cretö' }, /accountId/],
  ])('is not opened with %s, and the message quotes nothing', (_what, options, words) => {
    const make = () => serviceAt('http://127.0.0.1:9', { apiKey, accountId, ...options });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(words);
    expect(make).not.toThrow(/s3cret|canary/);
  });
});

const { signal } = new AbortController();
const limits = { timeoutMs: 60_000, connectTimeoutMs: 60_000, clock: () => new Date() };

it('every call goes through the proxy', async () => {
  const proxy = { url: 'http://127.0.0.1:1' };
  const baseUrl = 'https://service.invalid';
  const probed = await probeService({ ...{ baseUrl, apiKey, accountId, proxy }, ...limits }, { signal });
  const failed = await errorOf(serviceAt(baseUrl, { proxy }).getMasterHotelBrands());
  expect([probed.result.code, failed.code]).toEqual(['proxy-unreachable', 'proxy-unreachable']);
});

it('a probe leaves no connection open', async () => {
  const server = createServer((_, response) => response.end('{"Status":true,"StatusCode":2000}'));
  onTestFinished(() => void server.close());
  server.keepAliveTimeout = 0;
  const left = new Promise((resolve) => server.on('connection', (socket) => socket.on('close', resolve)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { result } = await probeService({ ...{ baseUrl, apiKey, accountId }, ...limits }, { signal });
  expect(result.code).toBe('ok');
  await left;
});

describe('an error', () => {
  const echo = `${guest}: no key ${apiKey} of ${accountId}`;
  const json = (status: number, body: object): StandInAnswer => ({ kind: 'json', status, body });

  it.each<[string, StandInAnswer]>([
    ['a refusal', json(200, { Status: false, Message: echo, StatusCode: 2009 })],
    ['a refusal of the key', json(403, { code: 2003, message: echo })],
    ['an unknown code', json(200, { Status: false, Message: echo, StatusCode: 2999 })],
    ['an error page of a proxy', { kind: 'text', status: 503, body: echo }],
    ['no JSON', { kind: 'text', body: `{"Message":"${echo}"` }],
    [
      'an answer that does not follow the specification',
      json(200, { Status: echo, Message: echo, StatusCode: 2000 }),
    ],
  ])('shows neither key nor account nor guest when it is logged: %s', async (_what, answer) => {
    const standIn = await startStandIn(() => answer);
    try {
      const service = serviceAt(standIn.baseUrl, { apiKey, accountId, retry: { tries: 2 } });
      const error = await errorOf(service.getMasterHotelBrands());
      const shown = [inspect(error, { depth: 9 }), JSON.stringify(error), error.message, error.stack].join(
        '\n',
      );
      expect(shown).not.toMatch(/canary|Okonjo/);
      expect(error.message).toMatch(/^getMasterHotelBrands .+\.$/);
      expect(error.answer ?? '').not.toMatch(/canary/);
    } finally {
      await standIn.close();
    }
  });

  it('keeps the message of the service in its answer property', async () => {
    const { service } = await openService(
      () => json(200, { Status: false, Message: echo, StatusCode: 2009 }),
      {
        apiKey,
        accountId,
      },
    );
    expect((await errorOf(service.getMasterHotelBrands())).answer).toBe(`${guest}: no key *** of ***`);
  });

  it('does not show what was sent to an unreachable service', async () => {
    const standIn = await startStandIn();
    await standIn.close();
    const service = serviceAt(standIn.baseUrl, { apiKey, accountId });
    const error = await errorOf(service.exportMappingsFile({ emailId: 'ops@example.com', providers: [] }));
    expect(error).toMatchObject({ kind: 'retryable', code: 'connection-refused' });
    expect(error.message).toContain(`(connection-refused, ${new URL(standIn.baseUrl).host})`);
    expect(inspect(error)).not.toMatch(/canary|ops@/);
  });
});
