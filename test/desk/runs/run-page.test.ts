import { describe, expect, it } from 'vitest';
import { LedgerAwayError } from '../../../src/ledger/errors.js';
import {
  at,
  collectedRun,
  done,
  newRun,
  perform,
  record,
  references,
  refused,
  retry,
  rightOf,
} from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { getData, getPage, startDesk } from '../some-desk.js';

/** In Madrid an hour later; the runs below began ten seconds before. */
const clock = () => at + 10_000;
const open = () => openTemporaryLedger(clock);

describe('the page of a run', () => {
  it('says of a run whose day is wanted that it has not started yet', async () => {
    const ledger = await open();
    await ledger.wanted.want({ day: '2026-11-20', runId: 'r1', mode: 'run', trigger: 'hook', wantedAt: at });
    const { url } = await startDesk({ ledger, clock, role: 'operator' });
    expect((await getPage(url, '/runs/r1')).text).toContain('It has not started yet.');
    expect((await getData(url, '/runs/r1')).data).toEqual({
      ...{ runId: 'r1', day: '2026-11-20', trigger: 'hook', reason: null, state: 'not-started' },
      wantedAt: new Date(at).toISOString(),
      pending: { kind: 'not-started', words: 'It has not started yet.' },
      actions: [{ name: 'Cancel', path: 'cancel' }],
    });
    expect((await getPage(url, '/runs/r2')).status).toBe(404);
    await ledger.runs.create(newRun('r9', { day: '2026-11-20' }));
    expect((await getData(url, '/runs/r1')).data).toMatchObject({ runId: 'r1', state: 'collecting' });
  });

  it('says why it is pending, with the tries that are left', async () => {
    const ledger = await open();
    const run = await collectedRun(ledger, 'r1', { bookings: references(12) });
    await perform(ledger, run, 'batch 0', retry({ notBefore: at + 60_300, spendsTry: false }));
    const { url } = await startDesk({ ledger, clock });
    const { text } = await getPage(url, '/runs/r1');
    const words =
      'It waits until 21 Nov 2026, 02:31: the service asked for 60 s (batch 0: timeout); then comes attempt 1 of 6; 2 other steps are open.';
    expect(text).toContain(words);
    const { data } = await getData(url, '/runs/r1');
    expect(data).toMatchObject({
      runId: 'r1',
      state: 'delivering',
      pending: { kind: 'delayed', words, until: '2026-11-21T01:31:00.300Z' },
      open: { performed: 0, ready: 2, delayed: 1, next: { kind: 'batch' } },
      steps: [{ kind: 'batch', state: 'ready', steps: 3, bookings: 12 }],
      troubles: [{ step: 'batch 0', attempt: 1, outcome: 'retry', code: 'timeout' }],
    });
  });

  it('says what it waits for, alone and among the runs of its day', async () => {
    const ledger = await open();
    const run = await collectedRun(ledger, 'r1', { bookings: references(4) });
    await perform(ledger, run, 'batch 0', retry({ notBefore: at + 90_000 }));
    const { url } = await startDesk({ ledger, clock });
    const waiting = { step: 'batch 0', until: new Date(at + 90_000).toISOString(), code: 'timeout' };
    expect((await getData(url, '/runs/r1')).data).toMatchObject({ waiting });
    expect((await getData(url, `/days/${run.day}`)).data).toMatchObject({ runs: [{ waiting }] });
  });

  it('never moves its bar back, not even when bookings that were refused are open again', async () => {
    const ledger = await open();
    const run = await collectedRun(ledger, 'r1', { bookings: references(12) });
    await perform(ledger, run, 'batch 0', done);
    await perform(ledger, run, 'batch 1', { ...refused, isAlone: true });
    const { url } = await startDesk({ ledger, clock });
    const bar = async () =>
      /value="\d+"><\/progress> <span>[^:]+/.exec((await getPage(url, '/runs/r1')).text)?.[0];
    expect(await bar()).toBe('value="4"></progress> <span>33 %');
    // Steps are counted, and not listed.
    const { text } = await getPage(url, '/runs/r1');
    for (const words of ['3 × batch', '1 done, 1 refused, 1 open']) expect(text).toContain(words);
    const failure = { class: 'refused', code: 'too-many-refused', message: 'refused 4 of 12' } as const;
    await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
    const resumed = await ledger.runs.takeOver('r1');
    expect(resumed.counts).toMatchObject({ delivered: 4, refused: 0 });
    expect(await bar()).toBe('value="4"></progress> <span>33 %');
  });

  it('says how long a run was worked on, without the night in which it lay failed', async () => {
    let now = at;
    const ledger = await openTemporaryLedger(() => now);
    const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
    const attempt = async (step: string, token: number, from: number) => {
      const claim = await ledger.steps.claim({ runId: 'r1', token }, step, 1, at + from);
      if (claim) await record(ledger, claim, done, at + from + 60_000);
    };
    await attempt('batch 0', run.token, 0);
    const failure = { class: 'retryable', code: 'timeout', message: 'the service is down' } as const;
    await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at: at + 60_000 });
    const morning = 8 * 3_600_000;
    now = at + morning;
    const resumed = await ledger.runs.takeOver('r1');
    await attempt('batch 1', resumed.token, morning);
    await ledger.runs.settle(rightOf(resumed), { state: 'succeeded', at: at + morning + 60_000 });
    const { url } = await startDesk({ ledger, clock });
    const { text } = await getPage(url, '/runs/r1');
    expect(text).toContain(
      'Started 21 Nov 2026, 02:30, ended 21 Nov 2026, 10:31: 2 min of work, and 7 h 59 min in which nobody worked on it.',
    );
    expect((await getData(url, '/runs/r1')).data).toMatchObject({ durationMs: 120_000 });
  });

  it('offers operators the actions that help its day', async () => {
    const ledger = await open();
    const run = await collectedRun(ledger, 'r1');
    const failure = { class: 'fatal', code: 'http-403', message: 'check apiKey' } as const;
    await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
    const operator = await getPage((await startDesk({ ledger, role: 'operator', clock })).url, '/runs/r1');
    expect(operator.text).toContain('<a class="button" href="/days/2026-11-20/run">Resume</a>');
    const team = await getPage((await startDesk({ ledger, role: 'team', clock })).url, '/runs/r1');
    expect(team.text).not.toContain('/days/2026-11-20/run');
    expect(team.text).toContain('It stopped because of this: check apiKey');
    // An action on the day would be about a newer run.
    await collectedRun(ledger, 'r2');
    const older = await getPage((await startDesk({ ledger, role: 'operator', clock })).url, '/runs/r1');
    expect([older.status, older.text.includes('/days/2026-11-20/run')]).toEqual([200, false]);
  });
});

it('The ledger is not queried for an id that no run can have', async () => {
  const asked: string[] = [];
  const find = async (id: string) => void asked.push(id);
  const ledger = withReplaced(await open(), { runs: { find } as never });
  const { url } = await startDesk({ ledger });
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
