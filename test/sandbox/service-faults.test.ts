import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGate } from '../support/gate.js';
import { patienceMs } from '../support/patience.js';
import { askNode, type Outcome } from './http-clients.js';
import {
  accountHeaders,
  byBody,
  byFile,
  jsonHeaders,
  type StartedService,
  type StartOptions,
  startedService,
  success,
  wrongBooking,
} from './started-service.js';

const body = JSON.stringify({ Hotels: [wrongBooking] });

async function startForTest(faults: readonly string[], options: StartOptions = {}) {
  const service = await startedService({ faults, ...options });
  onTestFinished(() => service.close());
  return service;
}

function post({ baseUrl }: StartedService, headers: Readonly<Record<string, string>> = jsonHeaders) {
  return askNode({ method: 'POST', url: `${baseUrl}${byBody}`, headers, body });
}

function get({ baseUrl }: StartedService, path = `${byFile}?ftpFilePath=a.csv`) {
  return askNode({ method: 'GET', url: `${baseUrl}${path}`, headers: accountHeaders });
}

/** A call that the test can abort. Its body is larger than the socket buffers. */
function open({ baseUrl }: StartedService) {
  const request = openRequest(`${baseUrl}${byBody}`, { method: 'POST', headers: jsonHeaders, agent: false });
  const failed = once(request, 'error').then(([error]) => error.code);
  request.end(body.padEnd(16_000_000));
  return { failed, leave: () => void request.destroy(new Error('left')) };
}

const json = (outcome: Outcome) =>
  outcome.kind === 'answered' ? { status: outcome.status, json: JSON.parse(outcome.body) } : outcome;
const statusOf = (outcome: Outcome) => (outcome.kind === 'answered' ? outcome.status : outcome.kind);

describe('A fault that accepts nothing', () => {
  const refusal = (StatusCode: number) => ({ Status: false, StatusCode, Message: expect.any(String) });
  const codeMessage = (code: number) => ({ code, message: expect.any(String) });

  it.each([
    ['status:503@1', 'envelope', { status: 503, json: refusal(2001) }],
    ['status:503@1', 'code-message', { status: 503, json: codeMessage(2001) }],
    ['status:403@1', 'envelope', { status: 403, json: refusal(2003) }],
    ['status:429:7@1', 'envelope', { status: 429, json: refusal(2030) }],
    ['refuse:2009@1', 'envelope', { status: 200, json: refusal(2009) }],
    ['refuse:2009@1', 'code-message', { status: 200, json: codeMessage(2009) }],
    ['drop@1', 'envelope', { kind: 'closed' }],
  ] as const)('affects either operation: %s in the shape %s', async (fault, errorShape, expected) => {
    for (const call of [post, get]) {
      const service = await startForTest([fault], { errorShape });
      expect(json(await call(service))).toEqual(expected);
      expect(json(await call(service))).toMatchObject({ status: 200, json: success });
      await service.close();
      expect(service.counts).toMatchObject({ calls: 2, faults: 1, refusedCalls: 0 });
      // Only the e-mail or the file of the second call.
      expect(service.emails.length + service.files.length).toBe(1);
    }
  });

  it('sends Retry-After if configured', async () => {
    const service = await startForTest(['status:429:7@1', 'status:503@2']);
    expect(await post(service)).toMatchObject({ headers: { 'retry-after': '7' } });
    const outcome = await post(service);
    expect(outcome.kind === 'answered' && outcome.headers).not.toHaveProperty('retry-after');
  });

  it.each([
    ['body', post],
    ['file', get],
  ] as const)('answers a call by %s with a page where JSON was expected', async (_operation, call) => {
    const service = await startForTest(['page@1']);
    expect(await call(service)).toMatchObject({
      kind: 'answered',
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: expect.stringMatching(/^<!doctype html>/),
    });
    expect(service.counts).toMatchObject({ faults: 1, reviewed: 0 });
    expect(service.files).toEqual([]);
    expect(service.events[0]).not.toHaveProperty('statusCode');
  });

  it('keeps a call hanging until the client leaves', async () => {
    const service = await startForTest(['hang@1']);
    const { failed, leave } = open(service);
    await vi.waitUntil(() => service.counts.faults === 1, { timeout: patienceMs });
    // Others are served meanwhile.
    expect(json(await post(service))).toMatchObject({ status: 200, json: success });
    const ofFirst = () => service.events.filter((event) => 'number' in event && event.number === 1);
    expect(ofFirst()).toEqual([]);
    leave();
    await failed;
    await vi.waitFor(
      () =>
        expect(ofFirst()).toEqual([
          {
            ...{ kind: 'unanswered', number: 1, operation: 'by-body', bookings: 0, incorrect: 0 },
            fault: { kind: 'hang' },
          },
        ]),
      { timeout: patienceMs },
    );
    expect(service.counts.reviewed).toBe(1);
  });

  it('keeps a call hanging until the service is closed', async () => {
    const service = await startForTest(['hang@1']);
    const { failed } = open(service);
    await vi.waitUntil(() => service.counts.faults === 1, { timeout: patienceMs });
    await service.close();
    expect(await failed).toBe('ECONNRESET');
    expect(service.events).toMatchObject([{ kind: 'unanswered', number: 1 }]);
    expect(service.counts.reviewed).toBe(0);
  });
});

describe('A lost answer', () => {
  it('follows once the bookings are accepted and the e-mail is written', async () => {
    const gate = createGate();
    const service = await startForTest(['lost-answer@1'], { deliver: () => gate.passed });
    const { failed } = open(service);
    const closing = vi.fn();
    const closed = failed.then(closing);
    await vi.waitUntil(() => service.emails.length === 1, { timeout: patienceMs });
    await get(service);
    expect(closing).not.toHaveBeenCalled();
    gate.open();
    await closed;
    expect(closing).toHaveBeenCalledWith('ECONNRESET');
    expect(service.events.filter((event) => 'number' in event && event.number === 1)).toEqual([
      expect.objectContaining({ kind: 'email-written', number: 1 }),
      {
        ...{ kind: 'unanswered', number: 1, operation: 'by-body', bookings: 1, incorrect: 1 },
        fault: { kind: 'lost-answer' },
      },
    ]);
    expect(service.counts).toMatchObject({ reviewed: 1, incorrect: 1 });
  });

  it('follows once the file is accepted', async () => {
    const service = await startForTest(['lost-answer@1']);
    expect(await get(service)).toEqual({ kind: 'closed' });
    expect(service.files).toEqual(['a.csv']);
  });
});

describe('A late answer', () => {
  it('is the proper one, and other calls are answered before it', async () => {
    const service = await startForTest(['latency:1@1']);
    const late = post(service);
    await vi.waitUntil(() => service.counts.calls === 1, { timeout: patienceMs });
    await post(service);
    expect(json(await late)).toMatchObject({ status: 200, json: success });
    const answered = service.events.filter(({ kind }) => kind === 'answered');
    expect(answered).toMatchObject([
      { number: 2 },
      { number: 1, fault: { kind: 'latency', seconds: 1 }, bookings: 1 },
    ]);
  });

  it('can be a refusal', async () => {
    const service = await startForTest(['latency:0.01@1']);
    const refused = await askNode({
      ...{ method: 'POST', url: `${service.baseUrl}${byBody}`, headers: jsonHeaders },
      body: '{}',
    });
    expect(json(refused)).toMatchObject({ json: { StatusCode: 2021 } });
    expect(service.counts).toMatchObject({ faults: 1, refusedCalls: 1 });
  });

  it('is dropped when the client leaves; the bookings are accepted nevertheless', async () => {
    const service = await startForTest(['latency:86400@1']);
    const { failed, leave } = open(service);
    await vi.waitUntil(() => service.counts.reviewed === 1, { timeout: patienceMs });
    leave();
    await failed;
    await vi.waitFor(
      () =>
        expect(service.events).toContainEqual(
          expect.objectContaining({ kind: 'unanswered', number: 1, bookings: 1, incorrect: 1 }),
        ),
      { timeout: patienceMs },
    );
    await vi.waitFor(() => expect(service.emails).toHaveLength(1), { timeout: patienceMs });
  });

  it('is dropped when the service is closed, but its e-mail is not', async () => {
    const service = await startForTest(['latency:86400@1']);
    const { failed } = open(service);
    await vi.waitUntil(() => service.counts.reviewed === 1, { timeout: patienceMs });
    await service.close();
    expect(await failed).toBe('ECONNRESET');
    expect(service.events.map(({ kind }) => kind)).toContain('email-written');
  });
});

describe('Faults', () => {
  it('count only authenticated calls to operations', async () => {
    const service = await startForTest(['status:503@2']);
    const statuses = [
      await post(service),
      await post(service, { ...jsonHeaders, apikey: 'key-2' }),
      await post(service, { 'Content-Type': 'application/json' }),
      await get(service, '/hotels'),
      await get(service, byBody),
      await get(service),
      await get(service),
    ].map(statusOf);
    expect(statuses).toEqual([200, 403, 403, 404, 405, 503, 200]);
    expect(service.counts).toMatchObject({ calls: 3, faults: 1 });
  });

  it('count even calls refused because of their content', async () => {
    const service = await startForTest(['status:503@2-3']);
    const statuses = [
      await post(service, accountHeaders),
      await post(service, accountHeaders),
      await post(service, accountHeaders),
      await post(service, accountHeaders),
    ].map(statusOf);
    expect(statuses).toEqual([415, 503, 503, 415]);
    expect(service.counts).toMatchObject({ calls: 4, faults: 2, refusedCalls: 2 });
  });

  it('of results do not affect calls', async () => {
    const service = await startForTest(['result-missing@1-', 'status:503@2']);
    expect([await get(service), await get(service), await get(service)].map(statusOf)).toEqual([
      200, 503, 200,
    ]);
  });

  it('at a rate hit the same calls with the same seed, and other calls with another', async () => {
    const rules = ['drop@20%', 'status:503@20%', 'refuse:2001@10%'];
    const outcomesOf = async (seed: number) => {
      const service = await startForTest(rules, { seed });
      const outcomes: unknown[] = [];
      for (let call = 0; call < 60; call += 1) {
        const outcome = json(await post(service));
        outcomes.push('status' in outcome ? [outcome.status, outcome.json.StatusCode] : outcome.kind);
      }
      return { outcomes, faults: service.counts.faults };
    };
    const first = await outcomesOf(7);
    expect(new Set(first.outcomes.map(String))).toEqual(
      new Set(['200,2000', '200,2001', '503,2001', 'closed']),
    );
    expect(first.faults).toBe(first.outcomes.filter((outcome) => String(outcome) !== '200,2000').length);
    expect(await outcomesOf(7)).toEqual(first);
    expect(await outcomesOf(8)).not.toEqual(first);
  });
});
