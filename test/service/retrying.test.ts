import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallOptions } from '../../src/service/operations.js';
import { refusal, type StandInAnswer } from '../support/http-stand-in.js';
import { patienceMs } from '../support/patience.js';
import { answerWith, errorOf, openService, type TestedService } from './opened-service.js';

type Call = (service: TestedService, options?: CallOptions) => Promise<unknown>;

const query = { lastUpdateDateTime: new Date(0), syncId: 'cycle-1' };
const lists = answerWith({ Mappings: [], HotelBrands: [] });
const busy: StandInAnswer = { kind: 'json', status: 503, body: {} };
const tooMany: StandInAnswer = { kind: 'json', status: 429, body: {} };

const getMappings: Call = (service, options) => service.getMappings(query, options);
const exportFile: Call = (service, options) =>
  service.exportMappingsFile({ emailId: 'a@b.eu', providers: [] }, options);
const all: [string, Call][] = [
  ['getMappings', getMappings],
  ['getMasterHotelBrands', (service, options) => service.getMasterHotelBrands(options)],
  ['exportMappingsFile', exportFile],
];

describe('a call that the service has not processed', () => {
  it.each(all)('is repeated unchanged until it succeeds: %s', async (_operation, call) => {
    const answers = [tooMany, { ...busy, status: 425 }, refusal(2030), refusal(2001)];
    const { service, standIn } = await openService((_request, number) => answers[number - 1] ?? lists);
    expect(await call(service)).toBeDefined();
    const [first, ...others] = standIn.requests.map(({ at: _, ...request }) => request);
    expect(others).toEqual(Array(4).fill(first));
  });

  it('fails when its tries are spent', async () => {
    const { service, standIn } = await openService(() => tooMany, { retry: { tries: 3 } });
    const error = await errorOf(exportFile(service));
    expect(error).toMatchObject({ kind: 'retryable', code: 'http-429', operation: 'exportMappingsFile' });
    expect(error).not.toHaveProperty('outcomeUnknown');
    expect(error.message).toContain('in 3 tries (http-429)');
    expect(standIn.requests).toHaveLength(3);
  });
});

it.each<[string, StandInAnswer, string]>([
  ['whose connection drops', { kind: 'drop', when: 'after-reading' }, 'connection-reset'],
  ['whose answer breaks off', { kind: 'drop', when: 'mid-answer' }, 'connection-reset'],
  ['whose answer is no JSON', { kind: 'text', body: '<h1>Sign in</h1>' }, 'unreadable-answer'],
  ['whose answer is another success', { kind: 'json', status: 202, body: {} }, 'http-202'],
  ['whose answer is a 503', busy, 'http-503'],
])(
  'a call that may have been processed, %s, is repeated only where that is harmless',
  async (_what, answer, code) => {
    const harmless = await openService((_request, number) => (number < 3 ? answer : lists));
    expect(await getMappings(harmless.service)).toBeDefined();
    expect(harmless.standIn.requests).toHaveLength(3);
    // Also after a try that was not processed.
    const { service, standIn } = await openService(
      (_request, number) => [tooMany, answer][number - 1] ?? lists,
    );
    const error = await errorOf(exportFile(service));
    expect(error).toMatchObject({ kind: 'retryable', code, outcomeUnknown: true });
    expect(error.message).toContain('may have processed it');
    expect(standIn.requests).toHaveLength(2);
  },
);

describe('a refusal', () => {
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
      { kind: 'text', status: 422, body: 'no' },
      { kind: 'refused', code: 'http-422', answer: 'no' },
    ],
    [
      { kind: 'json', body: { code: 2027, message: 'no' } },
      { kind: 'refused', code: 'code-2027', answer: 'no' },
    ],
    [
      refusal(2027, 'no'),
      { kind: 'refused', code: 'code-2027', httpStatus: 200, statusCode: 2027, answer: 'no' },
    ],
  ])('is final at once: %j', async (answer, expected) => {
    const { service, standIn } = await openService(() => answer);
    expect(await errorOf(getMappings(service))).toMatchObject({ operation: 'getMappings', ...expected });
    expect(standIn.requests).toHaveLength(1);
  });

  it('by an unknown code is final once the tries are spent', async () => {
    const { service, standIn } = await openService(() => refusal(2999), { retry: { tries: 2 } });
    expect(await errorOf(exportFile(service))).toMatchObject({ kind: 'refused', statusCode: 2999 });
    expect(standIn.requests).toHaveLength(2);
  });

  it('follows the configured status codes before the defaults, also for the codes of these operations', async () => {
    const statusCodes = { 2999: 'fatal', 2009: 'retryable', 2027: 'retryable' } as const;
    const answers = [refusal(2009), refusal(2027), refusal(2999)];
    const { service, standIn } = await openService((_request, number) => answers[number - 1] ?? lists, {
      statusCodes,
    });
    expect(await errorOf(getMappings(service))).toMatchObject({ kind: 'fatal', statusCode: 2999 });
    expect(standIn.requests).toHaveLength(3);
  });
});

describe('a wait between two tries', () => {
  /** Resolves when a wait of this length has begun. */
  function waitOf(milliseconds: number): Promise<boolean> {
    const set = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => set.mockRestore());
    return vi.waitUntil(() => set.mock.calls.some(([, length]) => length === milliseconds), {
      timeout: patienceMs,
    });
  }

  it.each(['3600', 'Fri, 20 Nov 2026 03:30:00 GMT'])(
    'is as long as the service requests, spends no try, and ends with the reason of an abort: %s',
    async (retryAfter) => {
      const { service, standIn } = await openService(
        () => ({ ...busy, headers: { 'retry-after': retryAfter } }),
        {
          retry: { tries: 1, retryAfterCapMs: 10_000_000 },
          clock: () => new Date('2026-11-20T02:30:00Z'),
        },
      );
      const waiting = waitOf(3_600_000);
      const stop = new AbortController();
      const call = getMappings(service, { signal: stop.signal });
      await waiting;
      const reason = new Error('Ctrl-C');
      stop.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect(standIn.requests).toHaveLength(1);
    },
  );

  it('is limited in length and in number', async () => {
    const { service, standIn } = await openService(() => ({ ...busy, headers: { 'retry-after': '86400' } }), {
      retry: { tries: 2, waits: 3, retryAfterCapMs: 1 },
    });
    expect(await errorOf(service.getMasterHotelBrands())).toMatchObject({ kind: 'retryable' });
    expect(standIn.requests).toHaveLength(5);
  });
});

it('a call has the time that is set', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { service, standIn } = await openService(() => ({ kind: 'hang' }), { timeoutSeconds: 30 });
  const failed = errorOf(exportFile(service));
  await standIn.received(1);
  vi.advanceTimersByTime(29_999);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await failed).toMatchObject({ code: 'timeout', outcomeUnknown: true });
});

describe('an abort', () => {
  it.each(all)('ends a call in flight with its reason: %s', async (_operation, call) => {
    const { service, standIn } = await openService(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const made = call(service, { signal: stop.signal });
    await standIn.received(1);
    stop.abort('enough');
    await expect(made).rejects.toBe('enough');
    await expect(call(service, { signal: stop.signal })).rejects.toBe('enough');
    expect(standIn.requests).toHaveLength(1);
  });

  it('of the service ends its calls and allows no further one', async () => {
    const { service, standIn } = await openService(() => ({ kind: 'hang' }));
    const call = errorOf(getMappings(service));
    await standIn.received(1);
    await Promise.all([service.close(), service.close()]);
    expect(await call).toMatchObject({ kind: 'retryable', code: 'client-closed' });
    expect(await errorOf(getMappings(service))).toMatchObject({ kind: 'retryable', code: 'client-closed' });
    expect(standIn.requests).toHaveLength(1);
  });
});
