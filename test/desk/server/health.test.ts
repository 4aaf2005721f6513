import { describe, expect, it } from 'vitest';
import { createHealth } from '../../../src/desk/server/health.js';
import { LedgerUnusableError } from '../../../src/ledger/errors.js';
import { now, startServer } from './some-server.js';

const quiet = { clock: () => now, log: { info() {}, error() {} } };
const fine = async () => {};
const silent = () => new Promise<never>(() => {});
const broken = () => Promise.reject(new LedgerUnusableError('/data/ledger.db', 'no such folder'));

describe('readiness', () => {
  it('tells anybody which part is down, and only the log why', async () => {
    let time = now;
    let check: () => Promise<void> = broken;
    const checks = { ledger: () => check(), queue: fine };
    const { url, logged } = await startServer({ checks, clock: () => time });
    const look = async () => {
      time += 1_000;
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.json()];
    };
    const down = [503, { ready: false, parts: { ledger: 'down', queue: 'ok' } }];
    expect([await look(), await look()]).toEqual([down, down]);
    check = fine;
    expect(await look()).toEqual([200, { ready: true, parts: { ledger: 'ok', queue: 'ok' } }]);
    const problem = 'the ledger /data/ledger.db cannot be used: no such folder';
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      { part: 'ledger', problem, message: 'not ready' },
      { part: 'ledger', message: 'ready again' },
    ]);
  });

  it('does not wait for a part that does not answer', async () => {
    const health = createHealth({ ledger: silent, queue: fine }, quiet, 20);
    expect(await health.look()).toEqual({
      ready: false,
      parts: { ledger: 'no answer within 0.02 s', queue: 'ok' },
    });
  });

  it('checks once a second, however many requests come', async () => {
    let time = now;
    let asked = 0;
    const check = async () => {
      asked += 1;
      if (asked > 1) throw new Error();
    };
    const { url } = await startServer({ checks: { ledger: check }, clock: () => time });
    const look = async () => (await fetch(`${url}/readyz`)).status;
    expect(await Promise.all([look(), look(), look()])).toEqual([200, 200, 200]);
    time += 999;
    expect([await look(), asked]).toEqual([200, 1]);
    time += 1;
    expect([await look(), asked]).toEqual([503, 2]);
    // The clock was wrong, and is put right.
    time -= 3_600_000;
    expect([await look(), asked]).toEqual([503, 3]);
  });
});

it('A process is alive whatever it depends on', async () => {
  const { url } = await startServer({ checks: { ledger: broken, queue: silent } });
  const response = await fetch(`${url}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { alive: true }]);
});
