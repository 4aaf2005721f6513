import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { settingsSchema } from '../../src/config/schema.js';
import { createMappingService } from '../../src/mapping-service/mapping-service.js';
import { type CreateMappingServiceOptions, defaultRetryPolicy } from '../../src/mapping-service/options.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { errorOf, openService, serviceAt } from './opened-service.js';

const apiKey = 'canary-key-5f0c7e3b';
const accountId = 'canary-account-77';
const guest = 'Zoë Okonjo';
const hotels = [{ ServiceId: 101, BookingReferenceId: 'BR-1042', BookingClientName: guest }];

describe('what the client is made with', () => {
  it.each<[string, Partial<CreateMappingServiceOptions>, RegExp]>([
    ['an address that is refused', { baseUrl: 'http://service.example.com/?key=s3cret' }, /baseUrl must/],
    ['an empty key', { apiKey: '' }, /apiKey/],
    ['a key with the line end of its file', { apiKey: 's3cret\n' }, /apiKey/],
    ['an account outside ASCII', { accountId: 's3cretö' }, /accountId/],
    ['no time', { timeoutSeconds: 0 }, /^timeoutSeconds/],
    ['a time that is no number', { timeoutSeconds: Number.NaN }, /^timeoutSeconds/],
    ['a time that no timer holds', { connectTimeoutSeconds: 3_000_000 }, /^connectTimeoutSeconds/],
    ['no connections', { connections: 0 }, /^connections/],
    ['half a connection', { connections: 1.5 }, /^connections/],
    ['no tries', { retry: { tries: 0 } }, /^retry\.tries/],
    ['fewer waits than none', { retry: { waits: -1 } }, /^retry\.waits/],
    ['a wait that no timer holds', { retry: { capMs: 2 ** 31 } }, /^retry\.capMs/],
    ['a wait that is no number', { retry: { retryAfterCapMs: Number.NaN } }, /^retry\.retryAfterCapMs/],
  ])('is checked at once, and the message quotes nothing: %s', (_what, options, words) => {
    const make = () => createMappingService({ baseUrl: 'http://127.0.0.1:9', apiKey, accountId, ...options });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(words);
    expect(make).not.toThrow(/s3cret|canary/);
  });

  it('has for retries what the configuration has if nothing is said', () => {
    const { retry } = settingsSchema.parse({
      service: { baseUrl: 'http://127.0.0.1:9', apiKey, accountId },
      source: { kind: 'csv', path: 'a.csv' },
    });
    expect(defaultRetryPolicy).toEqual({
      tries: retry.tries,
      waits: retry.waits,
      baseMs: retry.baseSeconds * 1000,
      capMs: retry.capSeconds * 1000,
      retryAfterCapMs: retry.retryAfterCapSeconds * 1000,
    });
  });

  it('uses eight connections if nothing is said, and as many as are said', async () => {
    const eight = await openService();
    const two = await openService(undefined, { connections: 2 });
    for (const { service } of [eight, two]) {
      await Promise.all(Array.from({ length: 40 }, () => service.reviewBookedHotels([])));
    }
    expect([eight.standIn.connections, two.standIn.connections]).toEqual([8, 2]);
  });
});

describe('an error', () => {
  const echo = `${guest}: no key ${apiKey} of ${accountId}`;
  const json = (status: number, body: object): StandInAnswer => ({ kind: 'json', status, body });

  it.each<[string, StandInAnswer]>([
    ['a refusal', json(200, { Status: false, Message: echo, StatusCode: 2009 })],
    ['a refusal of the key', json(403, { code: 2003, message: echo })],
    ['an unknown code', json(200, { Status: false, Message: echo, StatusCode: 2999 })],
    ['a page of a proxy', { kind: 'text', status: 503, body: echo }],
    ['no JSON', { kind: 'text', body: `{"Message":"${echo}"` }],
    ['an answer that is not as specified', json(200, { Status: echo, Message: echo, StatusCode: 2000 })],
  ])('tells neither the key nor the account nor a guest to a log: %s', async (_what, answer) => {
    const standIn = await startStandIn(() => answer);
    try {
      const service = serviceAt(standIn.baseUrl, { apiKey, accountId, retry: { tries: 2 } });
      const error = await errorOf(service.reviewBookedHotels(hotels));
      const shown = [inspect(error, { depth: 9 }), JSON.stringify(error), error.message, error.stack].join(
        '\n',
      );
      expect(shown).not.toMatch(/canary|Okonjo|BR-1042/);
      expect(error.message).toMatch(/^reviewBookedHotels .+\.$/);
      expect(error.answer ?? '').not.toMatch(/canary/);
    } finally {
      await standIn.close();
    }
  });

  it('keeps the words of the service for who asks for them', async () => {
    const { service } = await openService(
      () => json(200, { Status: false, Message: echo, StatusCode: 2009 }),
      {
        apiKey,
        accountId,
      },
    );
    expect((await errorOf(service.reviewBookedHotels(hotels))).answer).toBe(`${guest}: no key *** of ***`);
  });

  it('tells nothing of where an unreachable service is asked', async () => {
    const standIn = await startStandIn();
    await standIn.close();
    const service = serviceAt(standIn.baseUrl, { apiKey, accountId });
    const error = await errorOf(service.exportMappingsFile({ emailId: 'ops@example.com' }));
    expect(error).toMatchObject({ kind: 'retryable', code: 'connection-refused' });
    expect(inspect(error)).not.toMatch(/canary|ops@/);
  });
});
