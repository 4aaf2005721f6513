import { beforeEach, describe, expect, it } from 'vitest';
import { performRequest } from '../../../src/cases/case-requests.js';
import { listDayActions } from '../../../src/desk/day-actions.js';
import type { DeskParts } from '../../../src/desk/page.js';
import { at, collectedRun, day, newRun, rightOf } from '../../contracts/ledger/days.js';
import { collectedFileRun } from '../../contracts/ledger/file-days.js';
import { someRun } from '../../review/some-run.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { openCases } from '../cases/some-cases.js';
import { getData, getPage, readRows, startDesk, timezone } from '../some-desk.js';
import { addFileRun, archiveOf, fileRunId } from '../some-file-run.js';

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
});
/** In Madrid it is the morning after the day. */
const start = (options: Partial<Parameters<typeof startDesk>[0]> = {}) =>
  startDesk({ ledger, role: 'operator', clock: () => at, ...options });

describe('the page of a day', () => {
  it('lists a run that has not started yet first, until somebody opens it', async () => {
    await ledger.wanted.want({ day, runId: 'promised', mode: 'run', trigger: 'hook', wantedAt: at });
    const { url } = await start();
    expect(readRows((await getPage(url, `/days/${day}`)).text)[0]).toEqual(['promised', 'not started yet']);
    const promised = { runId: 'promised', state: 'not-started' };
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({ promised, runs: [] });
    await ledger.runs.create(newRun('own', { day }));
    const { data } = await getData(url, `/days/${day}`);
    expect(data).toMatchObject({ runs: [{ runId: 'promised', state: 'collecting' }] });
    expect(data).not.toHaveProperty('promised');
  });

  it('lists a hundred runs per page, and acts on the newest on each of them', async () => {
    for (let number = 0; number < 101; number += 1) {
      const run = await ledger.runs.create(newRun(`r${number}`, { trigger: 'today' }));
      await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
    }
    await collectedRun(ledger, 'newest');
    const { url } = await start();
    const pages = await Promise.all([1, 2].map((page) => getPage(url, `/days/${day}?page=${page}`)));
    expect(pages.map(({ text }) => readRows(text).length)).toEqual([100, 2]);
    expect(pages[0]?.text).toContain('102 runs: page 1 of 2');
    for (const { text } of pages) expect(text).toContain(`href="/days/${day}/cancel"`);
  });

  it('says how its run went and what its bookings need by two signs, and opens the cases first', async () => {
    await addFileRun(ledger, 'r1', day);
    const { url } = await start();
    const signs = async () => {
      const { data } = await getData(url, `/days/${day}`);
      const [, filled] =
        /<a class="button" href="([^"]+)"/.exec((await getPage(url, `/days/${day}`)).text) ?? [];
      return { ...(data as object), filled };
    };
    const needs = (mark: string, words: string) => ({
      ...{ mark, text: `1 booking on an incorrect mapping. ${words}` },
    });
    expect(await signs()).toMatchObject({
      ...{ judgement: 'attention', filled: undefined },
      headline: '1 booking on an incorrect mapping; 1 booking without a verdict.',
      ran: { judgement: 'attention', headline: '1 booking without a verdict.' },
      needs: needs('not-due', 'No open cases for this day.'),
    });
    await openCases(ledger, [{ hotel: '1', booked: 7, copy: 8, day, stays: [stay('1'), stay('2')] }]);
    expect(await signs()).toMatchObject({
      needs: needs('open', 'Of its bookings in cases: 2 open in 1 case.'),
      ...{ filled: `/cases?day=${day}`, cases: { count: 1, first: [{ id: 1, openBookings: 2 }] } },
    });
    await performRequest(ledger.cases, [1], { kind: 'resolve', bookings: [1], as: 'rebooked' }, asBea);
    expect(await signs()).toMatchObject({
      needs: needs('open', 'Of its bookings in cases: 1 open in 1 case, 1 resolved.'),
    });
    await performRequest(ledger.cases, [1], { kind: 'resolve', bookings: [2], as: 'rebooked' }, asBea);
    expect(await signs()).toMatchObject({
      ...{ ran: { judgement: 'attention' }, filled: undefined },
      needs: needs('resolved', 'Of its bookings in cases: 2 resolved.'),
    });
    expect((await getData(url, '/days/2026-11-19')).data).toMatchObject({ cases: { count: 0, first: [] } });
  });

  it('tells of guests who left before anybody helped them', async () => {
    await openCases(ledger, [{ hotel: '1', booked: 7, copy: 8, day, stays: [stay('1')] }]);
    const { text } = await getPage(
      (await start({ clock: () => Date.parse('2027-03-02') })).url,
      `/days/${day}`,
    );
    expect(text).toContain('1 never resolved before the guests left.');
    expect(text).toContain(`href="/cases?day=${day}&amp;state=left">Open the cases</a>`);
  });
});

const stay = (reference: string) => [reference, '2026-12-03'] as const;
const asBea = { who: 'bea', clock: () => at };

const dropped = {
  volume: { accepted: 3, usual: 900, minimum: 450, drops: [{ provider: null, accepted: 3, usual: 900 }] },
};
const implausible = { affected: 30, judged: 200 };
const early = { collectStartedAt: 0, collectedAt: 0 };
const retryable = { class: 'retryable', code: 'steps-failed', message: '' } as const;

/** The state of the newest run of a day, and where its actions lead. */
const offered: readonly (readonly [Parameters<typeof someRun>[0] | undefined, readonly string[]])[] = [
  [undefined, ['run']],
  [{ state: 'delivering' }, ['run', 'cancel']],
  [{ state: 'awaiting-result' }, ['look', 'cancel', 'replay']],
  [{ state: 'failed' }, ['run', 'replay', 'cancel']],
  [{ state: 'cancelled' }, ['run', 'replay']],
  [{ state: 'succeeded' }, ['replay']],
  [{ state: 'succeeded', ...early }, ['run', 'replay']],
  [{ state: 'succeeded', expected: 7 }, ['run', 'replay']],
  [{ state: 'failed', expected: 7 }, ['run', 'replay', 'cancel']],
  [{ state: 'succeeded', ...dropped }, ['accept', 'replay?which=late', 'replay']],
  [{ state: 'failed', ...dropped }, ['run', 'replay', 'cancel']],
  [{ state: 'succeeded', implausible }, ['accept-affected', 'replay']],
  [{ ...dropped, implausible }, ['accept', 'accept-affected', 'replay?which=late', 'replay']],
  [{ implausible, acceptances: { affected: { at: 1, by: 'ada', affected: 30 } } }, ['replay']],
  [{ state: 'failed', trigger: 'today' }, ['run', 'replay', 'cancel']],
  [{ state: 'succeeded', trigger: 'today' }, ['run', 'replay']],
];

describe('the actions that a day offers', () => {
  const list = (run: Parameters<typeof someRun>[0] | undefined, known = {}) =>
    listDayActions(run && someRun({ day, ...run }), timezone, known);

  it.each(offered)('after a run with %j are %j', (run, paths) => {
    expect(list(run).map(({ path }) => path)).toEqual(paths);
    // Nobody can tell what was sent, or it is being sent: neither would be accepted.
    const late = ['replay?which=late', ...(list(run)[0]?.name === 'Send what is missing' ? ['run'] : [])];
    expect(list(run, { isComparable: false }).map(({ path }) => path)).toEqual(
      paths.filter((path) => !late.includes(path)),
    );
    expect(list(run, { isPerformed: true }).map(({ path }) => path)).toEqual(
      paths.filter((path) => path !== 'replay'),
    );
  });

  it('begin with "Resume now" only where the schedule would try it again', () => {
    expect(list({ state: 'failed', failure: retryable })[0]?.name).toBe('Resume now');
    expect(list({ state: 'failed', failure: { ...retryable, class: 'refused' } })[0]?.name).toBe('Resume');
  });

  it('are those of the ledger, and none before the day has begun', async () => {
    await collectedFileRun(ledger, 'r1');
    const read = async (asked: string) =>
      (await getData((await start()).url, `/days/${asked}`)).data as { actions: { path: string }[] };
    expect((await read(day)).actions.map(({ path }) => path)).toEqual(['run', 'cancel']);
    expect((await read('2026-11-22')).actions).toEqual([]);
    const steps = { isBeingPerformed: async () => true };
    const run = someRun({ day, state: 'awaiting-result' });
    const { url } = await start({
      ledger: withReplaced(ledger, { steps, runs: { list: async () => [run], latest: async () => run } }),
    });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({
      actions: [{ path: 'look' }, { path: 'cancel' }],
    });
  });
});

describe('the kept reports of a day', () => {
  const name = `${fileRunId}-succeeded.html`;

  it('can be downloaded, and nothing else of the archive', async () => {
    const { url } = await start({ parts: { archive: archiveOf(await addFileRun(ledger)) } });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({ reports: [name] });
    const report = await getPage(url, `/days/${day}/reports/${name}`);
    expect([report.status, report.text]).toEqual([200, expect.stringContaining('The day as it was')]);
    expect(report.headers.get('content-disposition')).toMatch(/^attachment/);
    for (const other of ['other.html', '..%2f..%2fx.html', 'manifest.json'])
      expect((await getPage(url, `/days/${day}/reports/${other}`)).status).toBe(404);
  });

  it('are unknown while the archive does not answer, and the day is shown all the same', async () => {
    const archive = { list: () => new Promise<never>(() => {}), async *read() {} };
    const { url } = await start({ parts: { archive } });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({ reports: null, day });
    expect((await getPage(url, `/days/${day}`)).text).toContain('Unknown: the archive does not answer.');
  });
});
