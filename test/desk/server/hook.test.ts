import { describe, expect, it } from 'vitest';
import { hookPath } from '../../../src/desk/server/hook.js';
import { LedgerFullError } from '../../../src/ledger/errors.js';
import { createGate } from '../../support/gate.js';
import { hookSecret as secret } from '../../support/hook-secrets.js';
import { ask, post, signed, startGatedHook, startHook } from './hook-calls.js';
import { createHookRuns, startServer } from './some-server.js';

const accepted = (day: string) => ({ runId: `run-of-${day}`, day, statusUrl: `/runs/run-of-${day}` });

describe('the end-of-day hook', () => {
  it('starts the run of the given day', async () => {
    const { url, runs } = await startHook();
    const answer = await ask(url, { day: '2026-11-20', hotel: 'ignored' });
    expect(answer).toMatchObject({ status: 202, body: accepted('2026-11-20') });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(runs.starts).toEqual([{ day: '2026-11-20', requestId: 'msg_1' }]);
  });

  it('takes yesterday, in the configured zone, without a day', async () => {
    const midnight = Date.parse('2026-11-20T23:00:00Z');
    let at = midnight - 1;
    const { url } = await startHook({ clock: () => at });
    for (const [next, day] of [
      [midnight - 1, '2026-11-19'],
      [midnight, '2026-11-20'],
    ] as const) {
      at = next;
      for (const body of ['{}', '{"other":1}']) {
        const id = `msg_${day}-${body.length}`;
        expect(await post(url, body, signed(body, { at, id }))).toMatchObject({
          status: 202,
          body: accepted(day),
        });
      }
    }
  });

  it('starts nothing for the signature with which a state is asked for, nor for a blank body', async () => {
    const { url, runs } = await startHook();
    const message = expect.stringContaining('starts nothing');
    for (const [body, headers] of [
      [undefined, {}],
      // An empty one in chunks.
      [new Blob([]).stream(), {}],
      ['', { authorization: `Bearer ${secret}` }],
    ] as const)
      expect(await post(url, body, { ...signed(''), ...headers })).toMatchObject({
        ...{ status: 400, body: { error: { class: 'malformed', message } } },
      });
    expect((await post(url, ' ', { ...signed(' ') })).status).toBe(400);
    expect(runs.starts).toEqual([]);
  });

  it('accepts today and the oldest day that may start, and refuses one before and one that has not started', async () => {
    const { url, runs } = await startHook();
    for (const [day, error] of [
      ['2026-11-22', { class: 'future-day', message: expect.stringContaining('2026-11-22 has not started') }],
      ['0001-01-01', { class: 'day-too-old', message: expect.stringContaining('before 2026-11-17') }],
      ['2026-11-16', { class: 'day-too-old', message: expect.stringContaining('before 2026-11-17') }],
    ])
      expect(await ask(url, { day }, { id: `msg_${day}` })).toMatchObject({ status: 422, body: { error } });
    expect(runs.starts).toEqual([]);
    for (const day of ['2026-11-21', '2026-11-17'])
      expect((await ask(url, { day }, { id: `msg_${day}` })).status).toBe(202);
  });

  it('answers a repeated request with the same run, and passes on how many records are expected', async () => {
    const { url, runs } = await startHook();
    const first = await ask(url, { day: '2026-11-19', expected: 0 });
    expect(await ask(url, { day: '2026-11-19' })).toMatchObject({ status: 200, body: first.body });
    await ask(url, { day: '2026-11-20', expected: 412 }, { id: 'msg_2' });
    expect(runs.starts.map(({ expected }) => expected)).toEqual([0, 412]);
  });

  it('starts one run for a request that arrives twice at the same time', async () => {
    const { url, runs, gate } = await startGatedHook();
    const all = [1, 2, 3].map(() => ask(url, {}));
    gate.open();
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 202]);
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1);
    expect(runs.starts).toHaveLength(1);
  });

  it('refuses what is no JSON in UTF-8, and no day or count', async () => {
    const { url, runs } = await startHook();
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    for (const body of [
      ...['{"day":', '["2026-11-20"]', '{"day":null}', '{"day":"2026-11-20T00:00:00Z"}'],
      ...['{"expected":-1}', '{"day":"2026-02-30"}'],
      Buffer.from('{"day":"2026-11-20","more":"\xff"}', 'latin1'),
    ]) {
      const answer = await post(url, body, headers);
      expect(answer).toMatchObject({ status: 400, body: { error: { class: 'malformed' } } });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    expect(runs.starts).toEqual([]);
  });

  it('takes a body of each type of JSON, and of no other', async () => {
    const { url, runs } = await startHook();
    const body = '{"day":"2026-11-20"}';
    for (const [type, status] of [
      ['text/plain', 415],
      ['application/jsonp', 415],
      ['application/json; charset=utf-8', 202],
      ['application/cloudevents+json', 202],
    ] as const) {
      const headers = { ...signed(body, { id: `msg_${type.length}` }), 'content-type': type };
      expect([type, (await post(url, body, headers)).status]).toEqual([type, status]);
    }
    expect(runs.starts).toHaveLength(2);
  });

  it('refuses other methods, and names the one it accepts', async () => {
    const { url, runs } = await startHook();
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await fetch(`${url}${hookPath}`, { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    expect(runs.starts).toEqual([]);
  });

  it('does not exist where no secret is configured', async () => {
    const { url } = await startServer();
    const answer = await ask(url, { day: '2026-11-20' });
    expect(answer).toMatchObject({ status: 404, body: { error: { class: 'not-found' } } });
    expect((await fetch(`${url}${hookPath}`)).status).toBe(404);
  });

  it('says that the disk of the ledger is full, and the log names the ledger', async () => {
    const full = {
      ...createHookRuns(),
      start: () => Promise.reject(new LedgerFullError('/srv/review/ledger.db')),
    };
    const { url, logged } = await startHook({ runs: full });
    const answer = await ask(url, { day: '2026-11-20' });
    const message = 'the disk of the ledger is full: send the request again once there is some space';
    expect(answer).toMatchObject({ status: 503, body: { error: { class: 'unavailable', message } } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(logged.join()).toContain('/srv/review/ledger.db is full');
  });

  it.each(['findRun', 'start'])(
    'waits neither for a ledger that does not answer %s nor, asked again, for what it gave up',
    async (question) => {
      const runs = createHookRuns();
      const silent = { ...runs, [question]: () => new Promise<never>(() => {}) };
      const { url } = await startHook({ runs: silent, limits: { answerMs: 50 } });
      const answer = await ask(url, { day: '2026-11-20' });
      expect(answer).toMatchObject({ status: 503, body: { error: { class: 'unavailable' } } });
      Object.assign(silent, runs);
      await expect
        .poll(async () => (await ask(url, { day: '2026-11-20' })).body)
        .toMatchObject(accepted('2026-11-20'));
    },
  );

  it('starts nothing once it has answered that the ledger is away', async () => {
    const [gate, runs] = [createGate(), createHookRuns()];
    const findFirstDay = () => gate.passed.then(runs.findFirstDay);
    const { url } = await startHook({ runs: { ...runs, findFirstDay }, limits: { answerMs: 50 } });
    expect((await ask(url, { day: '2026-11-20' })).status).toBe(503);
    gate.open();
    await new Promise(setImmediate);
    expect(runs.starts).toEqual([]);
  });

  it('reveals nothing about an internal error', async () => {
    const broken = {
      ...createHookRuns(),
      start: () =>
        Promise.reject(Object.assign(new Error('Ana Lovelace'), { code: 'ETEAPOT', statusCode: 418 })),
    };
    const { url, logged } = await startHook({ runs: broken });
    const answer = await ask(url, { day: '2026-11-20' });
    expect(answer).toMatchObject({ status: 500, body: { error: { class: 'internal' } } });
    expect(JSON.stringify(answer.body)).not.toContain('Lovelace');
    expect(logged.join()).toContain('unexpected Error ETEAPOT');
    expect(logged.join()).not.toContain('Lovelace');
  });

  it('logs neither body nor headers nor query', async () => {
    const { url, logged } = await startHook();
    const body = '{"day":"2026-11-20","guest":"Ana Lovelace"}';
    const headers = { ...signed(body, { id: 'msg_secret' }), 'x-name': 'Ana Lovelace' };
    await fetch(`${url}${hookPath}?guest=Lovelace`, { method: 'POST', body, headers });
    await fetch(`${url}${hookPath}?guest=Lovelace`, { method: 'POST', body, headers: {} });
    expect(logged.join()).toContain('run-of-2026-11-20');
    expect(logged.join()).toContain('401');
    for (const word of ['Lovelace', 'msg_secret', 'guest']) expect(logged.join()).not.toContain(word);
  });
});
