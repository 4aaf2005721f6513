import { afterEach, describe, expect, it } from 'vitest';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { runToJson } from '../../src/review/day/report.js';
import { someRun } from '../review/some-run.js';
import { withReplaced } from '../support/fake-ledger.js';
import { getPage, now, runsOnly, startDesk, stopServers } from './some-desk.js';

afterEach(stopServers);

async function get(url: string, path: string) {
  const response = await fetch(url + path);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the report of a run', () => {
  it('is that of the command', async () => {
    const { finishedAt: _, ...run } = someRun({ state: 'delivering' });
    const { url } = await startDesk({ ledger: runsOnly([run]) });
    const answer = await get(url, `/runs/${run.id}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(answer.text)).toMatchObject(
      JSON.parse(JSON.stringify(runToJson(run, { now, timezone: 'Europe/Madrid' }))),
    );
  });

  it('says what it waits for, alone and among the runs of its day', async () => {
    const run = someRun({ state: 'delivering', openSteps: 1 });
    const done = someRun({ id: 'done' });
    const attempt = { kind: 'batch', endedAt: now, tries: 1, waits: 0 } as const;
    const wait = { ...attempt, step: 'batch 3', until: now + 90_000, code: 'http-503' };
    const { url } = await startDesk({ ledger: runsOnly([run, done], wait) });
    const waiting = { step: 'batch 3', until: '2026-11-21T02:31:30.000Z', code: 'http-503' };
    expect(JSON.parse((await get(url, `/runs/${run.id}`)).text)).toMatchObject({ waiting });
    const { runs } = JSON.parse((await get(url, '/days/2026-11-20')).text);
    expect(runs).toMatchObject([{ waiting }, { runId: 'done' }]);
    expect(runs[1]).not.toHaveProperty('waiting');
  });

  it('of a run that does not exist is an error', async () => {
    const { url } = await startDesk({ ledger: runsOnly([]) });
    const { status, text } = await get(url, '/runs/20261120-nosuch22');
    expect([status, JSON.parse(text).error.class]).toEqual([404, 'not-found']);
  });
});

it('The ledger is not queried for an id that no run can have', async () => {
  const asked: string[] = [];
  const find = async (id: string) => {
    asked.push(id);
    return someRun();
  };
  const { url } = await startDesk({ ledger: withReplaced(runsOnly([]), { runs: { find } }) });
  for (const name of ['%00', 'x'.repeat(65), "'--", '..%2f..']) {
    expect((await get(url, `/runs/${name}`)).status).toBe(404);
  }
  expect(asked).toEqual([]);
});

describe('the runs of a day', () => {
  it('are its reports', async () => {
    const runs = [someRun({ id: 'b' }), someRun({ id: 'a' }), someRun({ id: 'c', day: '2026-11-19' })];
    const { url } = await startDesk({ ledger: runsOnly(runs) });
    const { runs: given } = JSON.parse((await get(url, '/days/2026-11-20')).text);
    expect(given.map(({ runId }: { runId: string }) => runId)).toEqual(['b', 'a']);
  });

  it('may be none', async () => {
    const { url } = await startDesk({ ledger: runsOnly([]) });
    expect(JSON.parse((await get(url, '/days/2026-11-20')).text)).toMatchObject({ runs: [] });
    expect((await get(url, '/days/2026-02-30')).status).toBe(400);
  });
});

describe('while the ledger is unavailable', () => {
  const away = () => Promise.reject(new LedgerAwayError('postgres://db/ledger'));
  const silent = () => new Promise<never>(() => {});

  it.each([
    ['says so', away],
    ['says nothing', silent],
  ])('the status responds soon although the ledger %s', async (_how, answer) => {
    const ledger = withReplaced(runsOnly([]), {
      runs: { find: answer, list: answer, summarise: answer },
      steps: { readOpenWork: answer },
    });
    const { url } = await startDesk({ ledger, limits: { answerMs: 50 } });
    for (const path of ['/runs/20261120-k3f9xq7d', '/days/2026-11-20']) {
      const { status, headers, text } = await get(url, path);
      expect([status, JSON.parse(text).error.class]).toEqual([503, 'unavailable']);
      expect(headers.get('retry-after')).toBe('10');
    }
    const page = await getPage(url, '/');
    expect(page.status).toBe(503);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.text).toContain('does not answer');
  });
});

it('Read-only routes accept no other method', async () => {
  const { url } = await startDesk({ ledger: runsOnly([someRun()]) });
  for (const path of [
    '/',
    '/runs/20261120-k3f9xq7d',
    '/days/2026-11-20',
    '/healthz',
    '/readyz',
    '/metrics',
  ]) {
    const response = await fetch(url + path, { method: 'POST', body: 'x' });
    expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200);
  }
});
