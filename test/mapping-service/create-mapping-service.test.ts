import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defaultRetryPolicy } from '../../src/base/retry.js';
import { settingsSchema } from '../../src/config/schema.js';
import { type CreateMappingServiceOptions, createMappingService } from '../../src/service/mapping-service.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { errorOf, openService, serviceAt } from './opened-service.js';

const apiKey = 'canary-key-5f0c7e3b';
const accountId = 'canary-account-77';
const guest = 'Zoë Okonjo';
const hotels = [{ ServiceId: 101, BookingReferenceId: 'BR-1042', BookingClientName: guest }];

describe('the options', () => {
  it.each<[string, Partial<CreateMappingServiceOptions>, RegExp]>([
    ['an address that is refused', { baseUrl: 'http://service.example.com/?key=s3cret' }, /baseUrl must/],
    ['an empty key', { apiKey: '' }, /apiKey/],
    ['a key with the line end of its file', { apiKey: 's3cret\n' }, /apiKey/],
    ['an account outside ASCII', { accountId: 's3cretö' }, /accountId/],
    ['no time', { timeoutSeconds: 0 }, /^timeoutSeconds/],
    ['a time that is not a number', { timeoutSeconds: Number.NaN }, /^timeoutSeconds/],
    ['a time too long for a timer', { connectTimeoutSeconds: 3_000_000 }, /^connectTimeoutSeconds/],
    ['no connections', { connections: 0 }, /^connections/],
    ['half a connection', { connections: 1.5 }, /^connections/],
    ['no tries', { retry: { tries: 0 } }, /^retry\.tries/],
    ['a negative number of waits', { retry: { waits: -1 } }, /^retry\.waits/],
    ['a wait too long for a timer', { retry: { capMs: 2 ** 31 } }, /^retry\.capMs/],
    ['a wait that is not a number', { retry: { retryAfterCapMs: Number.NaN } }, /^retry\.retryAfterCapMs/],
  ])('are checked at once, and the message quotes nothing: %s', (_what, options, words) => {
    const make = () => createMappingService({ baseUrl: 'http://127.0.0.1:9', apiKey, accountId, ...options });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(words);
    expect(make).not.toThrow(/s3cret|canary/);
  });

  it('use the same defaults for retries as the configuration', () => {
    const { retry } = settingsSchema.parse({
      service: { baseUrl: 'http://127.0.0.1:9', apiKey, accountId },
      source: { kind: 'csv', path: 'a.csv' },
    });
    expect(defaultRetryPolicy).toMatchObject({
      tries: retry.tries,
      baseMs: retry.baseSeconds * 1000,
      capMs: retry.capSeconds * 1000,
    });
  });

  it('limit the connections, to eight by default', async () => {
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

  it('keeps the message of the service in its answer property', async () => {
    const { service } = await openService(
      () => json(200, { Status: false, Message: echo, StatusCode: 2009 }),
      {
        apiKey,
        accountId,
      },
    );
    expect((await errorOf(service.reviewBookedHotels(hotels))).answer).toBe(`${guest}: no key *** of ***`);
  });

  it('does not show what was sent to an unreachable service', async () => {
    const standIn = await startStandIn();
    await standIn.close();
    const service = serviceAt(standIn.baseUrl, { apiKey, accountId });
    const error = await errorOf(service.exportMappingsFile({ emailId: 'ops@example.com' }));
    expect(error).toMatchObject({ kind: 'retryable', code: 'connection-refused' });
    expect(error.message).toContain(`(connection-refused, ${new URL(standIn.baseUrl).host})`);
    expect(inspect(error)).not.toMatch(/canary|ops@/);
  });
});
