import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeskParts } from '../../../src/desk/page.js';
import { at, collectedRun, day, newRun, rightOf } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { getData, getPage, otherParts, startDesk, stopServers } from '../some-desk.js';
import { addFileRun, archiveOf, fileRunId } from '../some-file-run.js';

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
    ['2026-11-21', 'not-due', 'This day is not over, and has no run yet.'],
    ['2026-11-22', 'not-due', 'This day has not begun.'],
  ])('%s, which has no run, is %s', async (asked, judgement, headline) => {
    await collectedRun(ledger, 'r1', { day: '2026-11-18' });
    const { url } = await start();
    expect((await getData(url, `/days/${asked}`)).data).toMatchObject({ judgement, headline, runs: [] });
    const { next } = (await getData(url, '/days/2026-11-21')).data as { next: unknown };
    expect(next).toBeNull();
  });

  it('offers actions to those who may operate', async () => {
    const run = await collectedRun(ledger, 'r1');
    const read = async (role: 'operator' | 'team') =>
      (await getPage((await start({ role })).url, `/days/${day}`)).text;
    expect(await read('operator')).toContain(`href="/days/${day}/cancel"`);
    expect(await read('team')).not.toContain(`/days/${day}/cancel`);
    await ledger.runs.settle(rightOf(run), { state: 'awaiting-result', at });
    expect(await read('operator')).toContain(
      `<a class="button" href="/days/${day}/look">Look for the result now</a>`,
    );
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
