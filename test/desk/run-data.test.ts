import { afterEach, expect, it } from 'vitest';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { at, collectedRun, perform, references, retry } from '../contracts/ledger/days.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { withReplaced } from '../support/fake-ledger.js';
import { getData, getPage, startDesk, stopServers } from './some-desk.js';

afterEach(stopServers);
const open = () => openTemporaryLedger(() => at);

it('A run says what it waits for, alone and among the runs of its day', async () => {
  const ledger = await open();
  const run = await collectedRun(ledger, 'r1', { bookings: references(4) });
  await perform(ledger, run, 'batch 0', retry({ notBefore: at + 90_000 }));
  const { url } = await startDesk({ ledger, clock: () => at });
  const waiting = { step: 'batch 0', until: new Date(at + 90_000).toISOString(), code: 'timeout' };
  expect((await getData(url, '/runs/r1')).data).toMatchObject({ waiting });
  expect((await getData(url, `/days/${run.day}`)).data).toMatchObject({ runs: [{ runId: 'r1', waiting }] });
});

it('The ledger is not queried for an id that no run can have', async () => {
  const asked: string[] = [];
  const find = async (id: string) => {
    asked.push(id);
    return undefined;
  };
  const { url } = await startDesk({ ledger: withReplaced(await open(), { runs: { find } }) });
  for (const name of ['%00', 'x'.repeat(65), "'--", '..%2f..'])
    expect((await getData(url, `/runs/${name}`)).status).toBe(404);
  expect(asked).toEqual([]);
});

it.each([
  ['says so', () => Promise.reject(new LedgerAwayError('postgres://db/ledger'))],
  ['says nothing', () => new Promise<never>(() => {})],
])('People and programs have an answer soon although the ledger %s', async (_how, answer) => {
  const runs = { find: answer, list: answer, summarise: answer };
  const { url } = await startDesk({ ledger: withReplaced(await open(), { runs }), limits: { answerMs: 50 } });
  for (const path of ['/runs/20261120-k3f9xq7d', '/days/2026-11-20']) {
    const { status, headers, data } = await getData(url, path);
    expect([status, data]).toMatchObject([503, { error: { class: 'unavailable' } }]);
    expect(headers.get('retry-after')).toBe('10');
  }
  const page = await getPage(url, '/');
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('does not answer')]);
});
