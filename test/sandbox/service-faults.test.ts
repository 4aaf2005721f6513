import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

  it.each([
    ['status:503@1', { status: 503, json: refusal(2001) }],
    ['status:401@1', { status: 401, json: refusal(2003) }],
    ['status:403@1', { status: 403, json: refusal(2003) }],
    ['status:404@1', { status: 404, json: refusal(2002) }],
    ['status:429:7@1', { status: 429, json: refusal(2030) }],
    ['refuse:2009@1', { status: 200, json: refusal(2009) }],
  ])('affects either operation: %s', async (fault, expected) => {
    for (const call of [post, get]) {
      const service = await startForTest([fault]);
      expect(json(await call(service))).toEqual(expected);
      expect(json(await call(service))).toMatchObject({ status: 200, json: success });
      await service.close();
      expect(service.counts.calls).toBe(2);
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
});

describe('A late answer', () => {
  it('is the proper one, and other calls are answered before it', async () => {
    const service = await startForTest(['latency:1@1']);
    const late = post(service);
    await vi.waitUntil(() => service.counts.calls === 1, { timeout: patienceMs });
    await post(service);
    expect(json(await late)).toMatchObject({ status: 200, json: success });
    expect(service.told.filter((line) => line.startsWith('call'))).toEqual([
      expect.stringContaining('call 2 '),
      expect.stringContaining('call 1 by-body (latency): 200 2000, 1 booking accepted'),
    ]);
  });

  it('can be a refusal', async () => {
    const service = await startForTest(['latency:0.01@1']);
    const refused = await askNode({
      ...{ method: 'POST', url: `${service.baseUrl}${byBody}`, headers: jsonHeaders },
      body: '{}',
    });
    expect(json(refused)).toMatchObject({ json: { StatusCode: 2021 } });
    expect(service.told).toEqual(['call 1 by-body (latency): 200 2021, 0 bookings accepted']);
  });

  it('is dropped when the client leaves; the bookings are accepted nevertheless', async () => {
    const service = await startForTest(['latency:86400@1']);
    const { failed, leave } = open(service);
    await vi.waitUntil(() => service.counts.reviewed === 1, { timeout: patienceMs });
    leave();
    await failed;
    await vi.waitFor(
      () =>
        expect(service.told).toContain(
          'call 1 by-body (latency): no answer, 1 booking accepted, 1 wrongly mapped',
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
    expect(service.told.join('\n')).toContain('e-mail about 1 of call 1: ');
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
    expect(service.counts).toMatchObject({ calls: 3 });
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
    expect(service.counts).toMatchObject({ calls: 4 });
  });

  it('of results do not affect calls', async () => {
    const service = await startForTest(['result-missing@1-', 'status:503@2']);
    expect([await get(service), await get(service), await get(service)].map(statusOf)).toEqual([
      200, 503, 200,
    ]);
  });

  it('at a rate hit the same calls with the same seed, and other calls with another', async () => {
    const rules = ['status:429@20%', 'status:503@20%', 'refuse:2001@10%'];
    const outcomesOf = async (seed: number) => {
      const service = await startForTest(rules, { seed });
      const outcomes: string[] = [];
      for (let call = 0; call < 60; call += 1) {
        const outcome = json(await post(service));
        outcomes.push('status' in outcome ? `${outcome.status},${outcome.json.StatusCode}` : outcome.kind);
      }
      return outcomes;
    };
    const first = await outcomesOf(7);
    expect(new Set(first)).toEqual(new Set(['200,2000', '200,2001', '503,2001', '429,2030']));
    expect(await outcomesOf(7)).toEqual(first);
    expect(await outcomesOf(8)).not.toEqual(first);
  });
});
