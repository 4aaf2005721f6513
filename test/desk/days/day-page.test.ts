import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import { resolveBookings, toDecision } from '../../../src/rules/case-transitions.js';
import { at, collectedRun, day, newRun, rightOf } from '../../contracts/ledger/days.js';
import { collectedFileRun, performUpTo } from '../../contracts/ledger/file-days.js';
import { someRun } from '../../review/some-run.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { getData, getPage, otherParts, readRows, runsOnly, startDesk, stopServers } from '../some-desk.js';
import { addFileRun, archiveOf, fileRunId } from '../some-file-run.js';
import { nightlyRun } from './some-days.js';

const evil = `"'><script>alert(1)</script>`;

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
});
afterEach(stopServers);

/** In Madrid it is the morning after the day. */
const start = (options: Partial<Parameters<typeof startDesk>[0]> = {}) =>
  startDesk({ ledger, clock: () => at, ...options });

describe('the page of a day', () => {
  it('judges it in a sentence, lists its runs, newest first, and links to the days around it', async () => {
    const first = await collectedRun(ledger, 'r1');
    await ledger.runs.settle(rightOf(first), { state: 'cancelled', at });
    const second = await collectedRun(ledger, 'r2', { trigger: 'replay', reason: evil });
    const failure = { class: 'fatal', code: 'http-403', message: `check apiKey ${evil}` } as const;
    await ledger.runs.settle(rightOf(second), { state: 'failed', failure, at });
    const { url } = await start();
    const { data } = await getData(url, `/days/${day}`);
    expect(data).toMatchObject({
      day,
      judgement: 'attention',
      headline: `The run failed. Check apiKey ${evil}.`,
      previous: '2026-11-19',
      next: '2026-11-21',
      runs: [
        { runId: 'r2', state: 'failed' },
        { runId: 'r1', state: 'cancelled' },
      ],
      count: 2,
    });
    const { text } = await getPage(url, `/days/${day}`);
    expect(text.indexOf('/runs/r2')).toBeLessThan(text.indexOf('/runs/r1'));
    expect(text).toContain('href="/days/2026-11-19" rel="prev"');
    expect(text).not.toContain('<script>alert');
  });

  it('lists a run that has not started yet first, until somebody opens it', async () => {
    await ledger.wanted.want({ day, runId: 'promised', mode: 'run', trigger: 'hook', wantedAt: at });
    const { url } = await start();
    expect(readRows((await getPage(url, `/days/${day}`)).text)[0]).toEqual(['promised', 'not started yet']);
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({
      ...{ promised: { runId: 'promised', state: 'not-started' }, runs: [] },
    });
    await ledger.runs.create(newRun('own', { day }));
    const { data } = await getData(url, `/days/${day}`);
    expect(data).toMatchObject({ runs: [{ runId: 'promised', state: 'collecting' }] });
    expect(data).not.toHaveProperty('promised');
  });

  it('says what people were told, or that nobody is told without a channel', async () => {
    const run = await collectedRun(ledger, 'r1');
    const failure = { class: 'fatal', code: 'http-403', message: 'refused' } as const;
    await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
    const told = (await getPage((await start()).url, `/days/${day}`)).text;
    expect(told).toContain('What people were told');
    const operations = { ...otherParts.operations, channels: [] };
    const { text } = await getPage((await start({ parts: { operations } })).url, `/days/${day}`);
    expect(text).toContain('Nobody is told: no channel is configured.');
    expect(text).not.toContain('What people were told');
  });

  it.each([
    ['2026-11-19', 'missing', 'No run: nothing of this day was reviewed.'],
    ['2026-11-10', 'not-due', 'No run: the reviews began later.'],
    ['2026-11-21', 'not-due', 'Its run is still to come.'],
    ['2026-11-22', 'not-due', 'Its run is still to come.'],
  ])('%s, which has no run, is %s', async (asked, judgement, headline) => {
    await collectedRun(ledger, 'r1', { day: '2026-11-18' });
    const { url } = await start();
    expect((await getData(url, `/days/${asked}`)).data).toMatchObject({ judgement, headline, runs: [] });
    const { next } = (await getData(url, '/days/2026-11-21')).data as { next: unknown };
    expect(next).toBeNull();
  });

  it('says which run is the newest on each page of the list of runs', async () => {
    for (let number = 0; number < 101; number += 1) {
      const run = await ledger.runs.create(newRun(`r${number}`, { trigger: 'today' }));
      await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
    }
    await collectedRun(ledger, 'newest');
    const { url } = await start({ role: 'operator' });
    for (const page of [1, 2])
      expect((await getPage(url, `/days/${day}?page=${page}`)).text).toContain(`href="/days/${day}/cancel"`);
  });

  it('offers actions to those who may operate', async () => {
    const run = await collectedFileRun(ledger, 'r1');
    const read = async (role: 'operator' | 'team') =>
      (await getPage((await start({ role })).url, `/days/${day}`)).text;
    expect(await read('operator')).toContain(`href="/days/${day}/cancel"`);
    expect(await read('team')).not.toContain(`/days/${day}/cancel`);
    await performUpTo(ledger, run, 'trigger');
    expect(await read('operator')).toContain(
      `<a class="button" href="/days/${day}/look">Look for the result now</a>`,
    );
  });

  it('says how its run went and what its bookings need by two signs, and opens the cases first', async () => {
    await addFileRun(ledger, 'r1', day);
    const signs = async () => {
      const { url } = await start({ role: 'operator' });
      const { data } = await getData(url, `/days/${day}`);
      const { text } = await getPage(url, `/days/${day}`);
      const [, filled] = /<a class="button" href="([^"]+)"/.exec(text) ?? [];
      return { ...(data as { needs: object }), filled };
    };
    const affected = '1 booking on an incorrect mapping. ';
    expect(await signs()).toMatchObject({
      judgement: 'attention',
      headline: '1 booking on an incorrect mapping; 1 booking without a verdict.',
      ran: { judgement: 'attention', headline: '1 booking without a verdict.' },
      needs: {
        ...{ mark: 'not-due', words: 'nothing open' },
        text: `${affected}No open cases for this day.`,
      },
      filled: undefined,
    });

    await openCase(['2026-12-03', '2026-12-05'], ['2026-11-25', '2026-11-26']);
    expect(await signs()).toMatchObject({
      needs: {
        ...{ mark: 'open', words: 'bookings open' },
        text: `${affected}Of its bookings in cases: 2 open in 1 case.`,
      },
      filled: `/cases?day=${day}`,
    });

    await resolve(1);
    expect((await signs()).needs).toMatchObject({
      mark: 'open',
      text: `${affected}Of its bookings in cases: 1 open in 1 case, 1 resolved.`,
    });
    await resolve(2);
    expect(await signs()).toMatchObject({
      ran: { judgement: 'attention' },
      needs: {
        ...{ mark: 'resolved', words: 'all resolved' },
        text: `${affected}Of its bookings in cases: 2 resolved.`,
      },
      filled: undefined,
    });
  });

  it('tells of guests who left before anybody helped them', async () => {
    await openCase(['2026-11-10', '2026-11-12']);
    const { url } = await start();
    const { text } = await getPage(url, `/days/${day}`);
    expect(text).toContain('1 never resolved before the guests left.');
    expect(text).toContain(`<a class="button" href="/cases?day=${day}&amp;state=left">Open the cases</a>`);
  });

  it('calls a run good although its result named bookings', async () => {
    const verdicts = { affected: 2, unanswered: 0, unclear: 0, malformed: 0 };
    const run = nightlyRun(day, { file: { rows: 990, verdicts } });
    const counts = { ...run.counts, accepted: 990, delivered: 990, affected: 2, unanswered: 0 };
    const shown = { ...run, counts };
    const { url } = await startDesk({ ledger: runsOnly([shown]), role: 'operator', clock: () => at });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({
      ...{ judgement: 'attention', headline: '2 bookings on an incorrect mapping.' },
      ran: { judgement: 'good', headline: 'Complete: each booking has a verdict.' },
      needs: { text: '2 bookings on an incorrect mapping. No open cases for this day.' },
    });
    const { text } = await getPage(url, `/days/${day}`);
    expect(readRows(text)[0]?.slice(0, 2)).toEqual([run.id, 'succeeded']);
    expect(text).toContain(`<a class="button quiet" href="/days/${day}/replay">Replay</a>`);
  });

  it.each([
    ['failed', 3, 'by e-mail'],
    ['failed', 0, '-'],
    ['cancelled', 0, '-'],
    ['succeeded', 3, 'by e-mail'],
  ] as const)(
    'speaks of e-mails about a run that %s only if it delivered: %i',
    async (state, delivered, words) => {
      const run = someRun({ state, counts: { accepted: 3, delivered, affected: null } });
      const { url } = await startDesk({ ledger: runsOnly([run]), clock: () => at });
      const [row] = readRows((await getPage(url, `/days/${run.day}`)).text);
      expect(row?.at(-1)).toBe(words);
    },
  );

  it('does not count the hours in which nobody worked on a run', async () => {
    const hour = 3_600_000;
    const resumed = at + 5 * hour;
    const run = someRun({ startedAt: at, finishedAt: resumed + 60_000, pausedMs: 5 * hour - 120_000 });
    const { url } = await startDesk({ ledger: runsOnly([run]), clock: () => at });
    expect(readRows((await getPage(url, `/days/${run.day}`)).text)[0]?.[4]).toBe('3 min');
    expect((await getData(url, `/days/${run.day}`)).data).toMatchObject({ runs: [{ durationMs: 180_000 }] });
  });

  it('writes dates for people', async () => {
    await collectedRun(ledger, 'r1');
    await openCase(['2026-12-03', '2026-12-05']);
    const { text } = await getPage((await start()).url, `/days/${day}`);
    expect(text).toContain('<h1>Day 20 Nov 2026</h1>');
    expect(text).toContain('‹ 19 Nov 2026');
    expect(text).toContain('3 Dec 2026');
    expect(text).toContain('21 Nov 2026, 02:30');
  });

  it('shows the open cases of its bookings', async () => {
    const key = { providerName: evil, providerHotelId: '1', serviceId: 7 };
    const dates = { stateSince: at, openedAt: at, evidenceAt: at };
    const booking = { reference: 'BR-1', checkIn: '2026-12-03', checkOut: '2026-12-05', day, addedAt: at };
    await ledger.cases.changeByKey([key], () => ({
      case: { state: 'open', origins: ['email'], ...dates },
      bookings: [{ place: 1, isNamed: true, ...booking }],
      actions: [],
    }));
    const { url } = await start();
    const { data } = await getData(url, `/days/${day}`);
    expect(data).toMatchObject({
      cases: { count: 1, first: [{ id: 1, openBookings: 1, firstCheckIn: '2026-12-03' }] },
    });
    expect((await getData(url, '/days/2026-11-19')).data).toMatchObject({ cases: { count: 0, first: [] } });
    const { text } = await getPage(url, `/days/${day}`);
    expect(text).toContain('href="/cases/1"');
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('BR-1');
  });

  it('shows the cases with the nearest check-ins, and counts the others', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => ({
      ...{ providerName: 'hotelbeds', providerHotelId: `${index}`, serviceId: 1_000 + index },
    }));
    const dates = { stateSince: at, openedAt: at, evidenceAt: at };
    await ledger.cases.changeByKey(keys, (_, { serviceId }) => ({
      case: { state: serviceId === 1_059 ? 'dismissed' : 'open', origins: ['email'], ...dates },
      bookings: [
        {
          ...{ place: 1, isNamed: true, day, addedAt: at },
          checkIn: new Date(at + (2_000 - serviceId) * 86_400_000).toISOString().slice(0, 10),
        },
      ],
      actions: [],
    }));
    const { url } = await start();
    const { data } = await getData(url, `/days/${day}`);
    const { cases } = data as { cases: { count: number; first: { serviceId: number }[] } };
    expect(cases.count).toBe(59);
    expect(cases.first.map(({ serviceId }) => serviceId)).toEqual(
      Array.from({ length: 20 }, (_, index) => 1_058 - index),
    );
  });

  it('shows the notices about it, and which problems are still open', async () => {
    await ledger.notices.raise([
      { event: 'day-late', subject: day, day, facts: { reason: 'x' }, raisedAt: at },
      { event: 'volume-dropped', subject: day, day, facts: { drops: evil }, raisedAt: at },
      { event: 'day-late', subject: '2026-11-19', day: '2026-11-19', facts: {}, raisedAt: at },
    ]);
    const { url } = await start();
    const { data } = await getData(url, `/days/${day}`);
    expect(data).toMatchObject({
      problems: [
        { event: 'day-late', title: `${day} was not reviewed by its deadline` },
        { event: 'volume-dropped', severity: 'warning' },
      ],
      notices: [
        { event: 'volume-dropped', severity: 'warning' },
        { event: 'day-late', stage: 'raised' },
      ],
    });
    expect((await getPage(url, `/days/${day}`)).text).not.toContain('<script>alert');
  });

  it('lists a hundred runs per page', async () => {
    for (let number = 0; number < 103; number += 1) {
      const run = await ledger.runs.create(newRun(`r${number}`, { trigger: 'today' }));
      await ledger.runs.settle(rightOf(run), { state: 'cancelled', at });
    }
    const { url } = await start();
    const { data } = await getData(url, `/days/${day}?page=2`);
    expect((data as { runs: unknown[] }).runs).toHaveLength(3);
    const { text } = await getPage(url, `/days/${day}`);
    expect(text).toContain('103 runs: page 1 of 2');
    expect(text.length).toBeLessThan(100_000);
  });
});

/** A case with a booking of the day for each of these stays. */
async function openCase(...stays: readonly (readonly [checkIn: string, checkOut: string])[]) {
  const key = { providerName: 'hotelbeds', providerHotelId: '1', serviceId: 7 };
  const dates = { stateSince: at, openedAt: at, evidenceAt: at };
  await ledger.cases.changeByKey([key], () => ({
    case: { state: 'open', origins: ['affected'], ...dates },
    bookings: stays.map(([checkIn, checkOut], place) => ({
      ...{ place: place + 1, isNamed: true, reference: `BR-${place}`, checkIn, checkOut, day, addedAt: at },
    })),
    actions: [],
  }));
}

async function resolve(place: number): Promise<void> {
  await ledger.cases.changeById([1], (held) =>
    toDecision(held, resolveBookings(held, { places: new Set([place]), as: 'rebooked' }, at), []),
  );
}

describe('the actions that a day offers', () => {
  const dropped = {
    volume: { accepted: 3, usual: 900, minimum: 450, drops: [{ provider: null, accepted: 3, usual: 900 }] },
  };
  const implausible = { affected: 30, judged: 200 };
  const early = { collectStartedAt: 0, collectedAt: 0 };
  const blanked = { linesBlanked: true as const, counts: { delivered: 3 } };
  const paths: Readonly<Record<string, readonly [Parameters<typeof someRun>[0][], readonly string[]]>> = {
    'without a run': [[], ['run']],
    'while it is delivering': [[{ state: 'delivering' }], ['run', 'cancel']],
    'awaiting its result': [[{ state: 'awaiting-result' }], ['look', 'cancel', 'replay']],
    'that failed': [[{ state: 'failed' }], ['run', 'replay', 'cancel']],
    'that was cancelled': [[{ state: 'cancelled' }], ['run', 'replay']],
    'that is done': [[{ state: 'succeeded' }], ['replay']],
    'collected before it was over': [[{ state: 'succeeded', ...early }], ['run', 'replay']],
    'collected before it was over, without names': [
      [{ state: 'succeeded', ...early, ...blanked }],
      ['replay'],
    ],
    'with fewer records than the hook expected': [[{ state: 'succeeded', expected: 7 }], ['run', 'replay']],
    'that failed with fewer records than expected': [
      [{ state: 'failed', expected: 7 }],
      ['run', 'replay', 'cancel'],
    ],
    'with few bookings': [[{ state: 'succeeded', ...dropped }], ['accept', 'replay?which=late', 'replay']],
    'with few bookings, without names': [
      [{ state: 'succeeded', ...dropped, ...blanked }],
      ['accept', 'replay'],
    ],
    'with many affected bookings': [[{ state: 'succeeded', implausible }], ['accept-affected', 'replay']],
    'with few bookings, and many of them affected': [
      [{ state: 'succeeded', ...dropped, implausible }],
      ['accept', 'accept-affected', 'replay?which=late', 'replay'],
    ],
    'with as many affected bookings as somebody accepted': [
      [{ state: 'succeeded', implausible, acceptances: { affected: { at: 1, by: 'ada', affected: 30 } } }],
      ['replay'],
    ],
    'with few bookings that failed': [[{ state: 'failed', ...dropped }], ['run', 'replay', 'cancel']],
    'whose run of today failed': [[{ state: 'failed', trigger: 'today' }], ['run', 'replay', 'cancel']],
    'whose run of today was cancelled': [[{ state: 'cancelled', trigger: 'today' }], ['run', 'replay']],
    'whose run of today ended': [[{ state: 'succeeded', trigger: 'today' }], ['run', 'replay']],
    'cancelled after it was sent with few bookings': [
      [
        { id: 'b', state: 'cancelled' },
        { id: 'a', state: 'succeeded', ...dropped },
      ],
      ['run', 'replay'],
    ],
  };

  it.each(Object.entries(paths))('%s: each is accepted by its preview', async (_, [changes, expected]) => {
    const runs = changes.map((change) => someRun({ day, ...change }));
    const known = withReplaced(runsOnly(runs), {
      runs: { latest: async () => runs[0], listLatest: async () => runs.slice(0, 1) },
      steps: { isBeingPerformed: async () => false },
    });
    const { url } = await startDesk({ ledger: known, role: 'operator', clock: () => at });
    const { actions } = (await getData(url, `/days/${day}`)).data as { actions: { path: string }[] };
    expect(actions.map(({ path }) => path)).toEqual(expected);
    const { text } = await getPage(url, `/days/${day}`);
    expect(text).not.toContain(`<a class="button" href="/days/${day}/replay"`);
    for (const { path } of actions) {
      expect(text).toContain(`href="/days/${day}/${path}"`);
      expect((await getData(url, `/days/${day}/${path}`)).data).not.toHaveProperty('refusal');
    }
  });

  it.each([
    ['retryable', 'Resume now'],
    ['refused', 'Resume'],
  ] as const)('of a run that failed as %s begin with "%s"', async (failureClass, name) => {
    const failure = { class: failureClass, code: 'steps-failed', message: '' };
    const known = runsOnly([someRun({ day, state: 'failed', failure })]);
    const { url } = await startDesk({ ledger: known, role: 'operator', clock: () => at });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({ actions: [{ name }, {}, {}] });
  });

  it('are none on a day that has not begun', async () => {
    const { url } = await start({ role: 'operator' });
    expect((await getData(url, '/days/2026-11-22')).data).toMatchObject({ actions: [] });
  });

  it('leave out a replay while the result is being looked for', async () => {
    const runs = [someRun({ day, state: 'awaiting-result' })];
    const known = withReplaced(runsOnly(runs), { steps: { isBeingPerformed: async () => true } });
    const { url } = await startDesk({ ledger: known, role: 'operator', clock: () => at });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({
      actions: [{ path: 'look' }, { path: 'cancel' }],
    });
  });
});

describe('the kept reports of a day', () => {
  const name = `${fileRunId}-succeeded.html`;

  it('can be downloaded, and nothing else of the archive', async () => {
    const archive = archiveOf(await addFileRun(ledger));
    const { url } = await start({ parts: { archive } });
    expect((await getData(url, `/days/${day}`)).data).toMatchObject({ reports: [name] });
    expect((await getPage(url, `/days/${day}`)).text).toContain(
      `href="/days/${day}/reports/${name}" download`,
    );
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
