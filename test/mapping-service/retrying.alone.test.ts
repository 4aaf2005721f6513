import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallOptions } from '../../src/service/operations.js';
import { refusal, type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import { answerWith, errorOf, openService, serviceAt, type TestedService } from './opened-service.js';

type Call = (service: TestedService, options?: CallOptions) => Promise<unknown>;

const query = { lastUpdateDateTime: new Date(0), syncId: 'cycle-1' };
const lists = answerWith({ Mappings: [], HotelBrands: [] });
const busy: StandInAnswer = { kind: 'json', status: 503, body: {} };
const tooMany: StandInAnswer = { kind: 'json', status: 429, body: {} };
const dropped: StandInAnswer = { kind: 'drop', when: 'after-reading' };

const repeatable: [string, Call][] = [
  ['getMappings', (service, options) => service.getMappings(query, options)],
  ['getMasterHotelBrands', (service, options) => service.getMasterHotelBrands(options)],
];
const unrepeatable: [string, Call][] = [
  [
    'exportMappingsFile',
    (service, options) => service.exportMappingsFile({ emailId: 'a@b.eu', providers: [] }, options),
  ],
];
const all = [...repeatable, ...unrepeatable];

describe('a call that the service has not processed', () => {
  it.each(all)('is repeated unchanged until it succeeds: %s', async (_operation, call) => {
    const answers = [tooMany, { ...busy, status: 425 }, refusal(2030), refusal(2001)];
    const { service, standIn } = await openService((_request, number) => answers[number - 1] ?? lists);
    expect(await call(service)).toBeDefined();
    expect(standIn.requests).toHaveLength(5);
    const [first, ...others] = standIn.requests.map(({ method, url, body, rawHeaders }) => ({
      method,
      url,
      body,
      rawHeaders,
    }));
    for (const other of others) expect(other).toEqual(first);
  });

  it.each(all)('fails when its tries are spent: %s', async (operation, call) => {
    const { service, standIn } = await openService(() => tooMany, { retry: { tries: 3 } });
    const error = await errorOf(call(service));
    expect(error).toMatchObject({ kind: 'retryable', code: 'http-429', httpStatus: 429, operation });
    expect(error).not.toHaveProperty('outcomeUnknown');
    expect(error.message).toContain('in 3 tries (http-429)');
    expect(standIn.requests).toHaveLength(3);
  });

  it.each(all)('because it was down is repeated once it is up: %s', async (_operation, call) => {
    const standIn = await startStandIn();
    const { port } = standIn;
    await standIn.close();
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(request.url ?? '');
      response.end(JSON.stringify(lists.body));
    });
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const service = serviceAt(standIn.baseUrl, {
      retry: { tries: 1_000, baseMs: 20, capMs: 20 },
      random() {
        if (!server.listening) server.listen(port, '127.0.0.1');
        return 0.5;
      },
    });
    expect(await call(service)).toBeDefined();
    expect(received).toHaveLength(1);
  });
});

describe('a call that the service may have processed', () => {
  const unclear: [string, StandInAnswer, string][] = [
    ['whose connection drops before it is answered', dropped, 'connection-reset'],
    [
      'whose connection drops before it is read',
      { kind: 'drop', when: 'before-reading' },
      'connection-reset',
    ],
    ['whose answer breaks off', { kind: 'drop', when: 'mid-answer' }, 'connection-reset'],
    ['whose answer is no JSON', { kind: 'text', body: '<h1>Sign in</h1>' }, 'unreadable-answer'],
    ['whose answer is another success', { kind: 'json', status: 202, body: {} }, 'http-202'],
    ['whose answer is a 500', { kind: 'json', status: 500, body: {} }, 'http-500'],
    ['whose answer is a 503', busy, 'http-503'],
    ['whose answer is a 504', { kind: 'text', status: 504, body: '<h1>Timeout</h1>' }, 'http-504'],
  ];

  for (const [what, answer, code] of unclear) {
    it.each(repeatable)(`and ${what} is repeated where that is harmless: %s`, async (_operation, call) => {
      const { service, standIn } = await openService((_request, number) => (number < 3 ? answer : lists));
      expect(await call(service)).toBeDefined();
      expect(standIn.requests).toHaveLength(3);
    });

    it.each(unrepeatable)(
      `and ${what} is not repeated where that could do something twice: %s`,
      async (operation, call) => {
        const { service, standIn } = await openService((_request, number) => (number === 1 ? answer : lists));
        const error = await errorOf(call(service));
        expect(error).toMatchObject({ kind: 'retryable', code, operation, outcomeUnknown: true });
        expect(error.message).toContain('may have processed it');
        expect(standIn.requests).toHaveLength(1);
      },
    );
  }

  it('because it is too slow times out', async () => {
    const { service, standIn } = await openService(
      (_request, number) => (number === 1 ? { kind: 'hang' } : lists),
      { timeoutSeconds: 1 },
    );
    expect(await service.getMasterHotelBrands()).toBeDefined();
    expect(standIn.requests).toHaveLength(2);
  });

  it('because its answer stalls is repeated, whatever part of the answer arrived', async () => {
    const stalls: StandInAnswer = { kind: 'text', body: '{}', headers: { 'content-length': 100 } };
    const { service, standIn } = await openService((_request, number) => (number === 1 ? stalls : lists), {
      timeoutSeconds: 1,
    });
    expect(await service.getMasterHotelBrands()).toBeDefined();
    expect(standIn.requests).toHaveLength(2);
  });

  it('is not repeated when a later try had no answer', async () => {
    const { service, standIn } = await openService((_request, number) => (number === 1 ? tooMany : dropped));
    const error = await errorOf(service.exportMappingsFile({ emailId: 'a@b.eu', providers: [] }));
    expect(error).toMatchObject({ kind: 'retryable', code: 'connection-reset' });
    expect(standIn.requests).toHaveLength(2);
  });
});

describe('a clear refusal', () => {
  it.each<[StandInAnswer, object]>([
    [
      { kind: 'json', status: 401, body: {} },
      { kind: 'fatal', code: 'http-401', httpStatus: 401 },
    ],
    [
      { kind: 'json', status: 403, body: { code: 2003, message: 'who?' } },
      { kind: 'fatal', code: 'http-403', statusCode: 2003, answer: 'who?' },
    ],
    [
      { kind: 'json', status: 404, body: {} },
      { kind: 'fatal', code: 'http-404' },
    ],
    [
      { kind: 'json', status: 302, body: {}, headers: { location: '/' } },
      { kind: 'fatal', code: 'http-302' },
    ],
    [refusal(2003), { kind: 'fatal', code: 'code-2003', httpStatus: 200, statusCode: 2003 }],
    [
      { kind: 'json', body: { code: 2003, message: 'who?' } },
      { kind: 'fatal', statusCode: 2003, answer: 'who?' },
    ],
    [
      { kind: 'json', status: 400, body: { code: 2012, message: 'limit' } },
      { kind: 'refused', code: 'http-400', statusCode: 2012, answer: 'limit' },
    ],
    [
      { kind: 'text', status: 422, body: 'no' },
      { kind: 'refused', code: 'http-422', answer: 'no' },
    ],
    [
      { kind: 'json', body: { code: '2020', message: 'where?' } },
      { kind: 'refused', statusCode: 2020 },
    ],
    ...[2002, 2006, 2007, 2009, 2011, 2012, 2016, 2017, 2020, 2021, 2025, 2027].map(
      (code): [StandInAnswer, object] => [
        refusal(code, 'no'),
        { kind: 'refused', code: `code-${code}`, httpStatus: 200, statusCode: code, answer: 'no' },
      ],
    ),
  ])('is final at once: %j', async (answer, expected) => {
    const { service, standIn } = await openService(() => answer);
    const error = await errorOf(service.getMappings(query));
    expect(error).toMatchObject({ operation: 'getMappings', ...expected });
    expect(standIn.requests).toHaveLength(1);
  });

  it.each([
    ['an unknown code', refusal(2999), { code: 'code-2999', statusCode: 2999 }],
    ['Status false with 2000', refusal(2000), { code: 'status-false', statusCode: 2000 }],
  ])('is %s once its tries are spent', async (_what, answer, expected) => {
    const { service, standIn } = await openService(() => answer, { retry: { tries: 2 } });
    const error = await errorOf(service.exportMappingsFile({ emailId: 'a@b.eu', providers: [] }));
    expect(error).toMatchObject({ kind: 'refused', ...expected });
    expect(standIn.requests).toHaveLength(2);
  });

  it('follows the statusCodes option before the defaults', async () => {
    const statusCodes = { 2999: 'fatal', 2009: 'retryable' } as const;
    const { service, standIn } = await openService(
      (_request, number) => refusal(number === 1 ? 2009 : 2999),
      { statusCodes },
    );
    expect(await errorOf(service.getMasterHotelBrands())).toMatchObject({ kind: 'fatal', statusCode: 2999 });
    expect(standIn.requests).toHaveLength(2);
  });
});

describe('a wait between two tries', () => {
  it('is as long as the service requests, and spends no try', async () => {
    const { service, standIn } = await openService(
      (_request, number) => (number === 1 ? { ...busy, headers: { 'retry-after': '1' } } : lists),
      { retry: { tries: 1, retryAfterCapMs: 10_000 } },
    );
    await service.getMasterHotelBrands();
    const [first, second] = standIn.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('counts a date from the given clock', async () => {
    const { service, standIn } = await openService(
      (_request, number) =>
        number === 1 ? { ...busy, headers: { 'retry-after': 'Fri, 20 Nov 2026 02:30:01 GMT' } } : lists,
      { retry: { retryAfterCapMs: 10_000 }, clock: () => new Date('2026-11-20T02:30:00Z') },
    );
    await service.getMasterHotelBrands();
    const [first, second] = standIn.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('is limited in length and in number', async () => {
    const { service, standIn } = await openService(() => ({ ...busy, headers: { 'retry-after': '86400' } }), {
      retry: { tries: 2, waits: 3, retryAfterCapMs: 1 },
    });
    expect(await errorOf(service.getMasterHotelBrands())).toMatchObject({ kind: 'retryable' });
    expect(standIn.requests).toHaveLength(5);
  });

  it('ends with the reason of an abort', async () => {
    const { service, standIn, waits } = await openWaiting();
    const stop = new AbortController();
    const call = service.getMappings(query, { signal: stop.signal });
    await waits(1);
    const reason = new Error('Ctrl-C');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(standIn.requests).toHaveLength(1);
  });

  it('does not start when the call was aborted just before', async () => {
    const stop = new AbortController();
    const reason = new Error('Ctrl-C');
    const { service, standIn } = await openWaiting(() => stop.abort(reason));
    await expect(service.getMappings(query, { signal: stop.signal })).rejects.toBe(reason);
    expect(standIn.requests).toHaveLength(1);
  });

  it('leaves no listener on the signal', async () => {
    const { service } = await openService((_request, number) => (number < 6 ? busy : lists));
    const { signal } = new AbortController();
    const listen = vi.spyOn(signal, 'addEventListener');
    const unlisten = vi.spyOn(signal, 'removeEventListener');
    await service.getMappings(query, { signal });
    expect(listen.mock.calls.length).toBeGreaterThan(0);
    expect(unlisten.mock.calls.length).toBe(listen.mock.calls.length);
  });
});

describe('an abort', () => {
  it.each(all)('ends a call in flight with its reason: %s', async (_operation, call) => {
    const { service, standIn } = await openService(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const made = call(service, { signal: stop.signal });
    await standIn.received(1);
    stop.abort('enough');
    await expect(made).rejects.toBe('enough');
    expect(standIn.requests).toHaveLength(1);
  });

  it('before the call prevents it', async () => {
    const { service, standIn } = await openService();
    const reason = new Error('stopped');
    await expect(service.getMappings(query, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(standIn.requests).toEqual([]);
  });

  it('of the service ends its calls and allows no further one', async () => {
    const { service, standIn } = await openService(() => ({ kind: 'hang' }));
    const call = errorOf(service.getMappings(query));
    await standIn.received(1);
    await Promise.all([service.close(), service.close()]);
    expect(await call).toMatchObject({ kind: 'retryable', code: 'client-closed' });
    const late = errorOf(service.getMappings(query));
    expect(await late).toMatchObject({ kind: 'retryable', code: 'client-closed' });
    expect(standIn.requests).toHaveLength(1);
  });
});

/** A service that always asks for an hour of patience, so that each call waits. @param onDecided called just before */
async function openWaiting(onDecided = () => {}) {
  let decided = 0;
  const opened = await openService(() => ({ ...busy, headers: { 'retry-after': '3600' } }), {
    retry: { retryAfterCapMs: 3_600_000 },
    random() {
      decided += 1;
      onDecided();
      return 0;
    },
  });
  const waits = (count: number) => vi.waitUntil(() => decided === count, { timeout: patienceMs });
  return { ...opened, waits };
}
