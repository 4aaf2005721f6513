import { afterEach, describe, expect, it, vi } from 'vitest';
import { fillCases } from '../../bench/made-cases.js';
import type { Access } from '../../src/desk/access/access.js';
import { routes } from '../../src/desk/desk.js';
import { limitExpensiveWork } from '../../src/desk/serve-pages.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { createGate } from '../support/gate.js';
import { admitAs, now, startDesk } from './some-desk.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const staying = new AbortController().signal;
const busy = expect.objectContaining({ status: 503, headers: { 'retry-after': '5' } });

describe('the permits for expensive pages', () => {
  it('are given to two visitors; the next one waits until one of them is done', async () => {
    const enter = limitExpensiveWork();
    const [leaveFirst] = [await enter(staying), await enter(staying)];
    const events: string[] = [];
    const third = enter(staying).then(() => events.push('third entered'));
    await new Promise(setImmediate);
    events.push('first left');
    leaveFirst();
    await third;
    expect(events).toEqual(['first left', 'third entered']);
  });

  it('are refused to who waited too long, and to who would be one too many to wait', async () => {
    const enter = limitExpensiveWork(1, 1, 20);
    const leave = await enter(staying);
    const waiting = enter(staying);
    await expect(enter(staying)).rejects.toEqual(busy);
    await expect(waiting).rejects.toEqual(busy);
    leave();
    await enter(staying);
  });

  it('are not kept for a visitor who left while waiting', async () => {
    const enter = limitExpensiveWork(1, 1, 60_000);
    const leave = await enter(staying);
    const leaving = new AbortController();
    const left = enter(leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    let hasEntered = false;
    const next = enter(staying).then(() => {
      hasEntered = true;
    });
    await new Promise(setImmediate);
    expect(hasEntered).toBe(false);
    leave();
    await next;
  });
});

it('All pages whose work grows with the ledger need a permit', () => {
  const free = routes.filter(({ kind, cost }) => kind !== 'action' && cost === undefined);
  expect(free.map(({ path }) => path)).toEqual([
    '/days/:day/reports/:name',
    '/runs/:id',
    '/runs/:id/result',
    '/runs/:id/manifest',
    '/notifications',
  ]);
});

describe('a large page', () => {
  /** Goes on from test to test: the turns of the event loop are due by it. */
  let seeming = performance.now();

  /** The ledger as the desk has it for a visitor, watched. */
  const watch = (ledger: Ledger, look: (read: Ledger, signal: AbortSignal) => Ledger): Ledger => ({
    ...ledger,
    stoppedBy: (signal) => look(ledger.stoppedBy(signal), signal),
  });

  it.each(['/cases', '/cases.csv'])('%s lets others have their answers in between', async (path) => {
    const ledger = await openTemporaryLedger(() => now);
    await fillCases(ledger, { cases: 1_000, bookingsOfEach: 2 });
    const begun = createGate();
    const watched = watch(ledger, (read) => {
      begun.open();
      return read;
    });
    const { url } = await startDesk({ ledger: watched });
    await (await fetch(`${url}/healthz`)).text();
    // Each piece of work seems to take long.
    vi.spyOn(performance, 'now').mockImplementation(() => (seeming += 20));
    const answered: string[] = [];
    const ask = async (asked: string) => {
      const response = await fetch(url + asked, { headers: { accept: 'text/html' } });
      // A list begins before it is read to its end.
      await response.text();
      answered.push(`${asked} ${response.status}`);
    };
    const page = ask(path);
    await begun.passed;
    await ask('/healthz');
    await page;
    expect(answered).toEqual(['/healthz 200', `${path} 200`]);
  });

  it('keeps its permit until its work has ended, also if that is too late for its visitor', async () => {
    const [ended, arrived] = [createGate(), createGate()];
    const events: string[] = [];
    const watched = watch(await openTemporaryLedger(() => now), (read) => {
      events.push('begun');
      const listOfDays = () => ended.passed.then(() => Promise.reject(new Error('too late')));
      return { ...read, runs: { ...read.runs, listOfDays } };
    });
    let visits = 0;
    const everybody = admitAs('viewer');
    const access: Access = {
      ...everybody,
      identify(request) {
        visits += 1;
        if (visits === 3) arrived.open();
        return everybody.identify(request);
      },
    };
    const { url } = await startDesk({ ledger: watched, access, limits: { answerMs: 5 } });
    const ask = async () => (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).status;
    expect(await Promise.all([ask(), ask()])).toEqual([503, 503]);
    const third = ask();
    await arrived.passed;
    await new Promise(setImmediate);
    events.push('ended');
    ended.open();
    await third;
    expect(events).toEqual(['begun', 'begun', 'ended', 'begun']);
  });

  it('is not read any more once its visitor has left', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const [begun, stopped] = [createGate(), createGate()];
    const reads: unknown[] = [];
    const watched = watch(ledger, (read, signal) => {
      async function count(today: string): Promise<never> {
        begun.open();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        reads.push(await read.cases.count(today).catch((error: unknown) => error));
        stopped.open();
        throw signal.reason;
      }
      return { ...read, cases: { ...read.cases, count } } as Ledger;
    });
    const { url } = await startDesk({ ledger: watched });
    const leaving = new AbortController();
    const page = fetch(`${url}/`, { headers: { accept: 'text/html' }, signal: leaving.signal });
    await begun.passed;
    leaving.abort();
    await expect(page).rejects.toThrow();
    await stopped.passed;
    expect(reads).toEqual([expect.objectContaining({ name: 'AbortError' })]);
  });
});
