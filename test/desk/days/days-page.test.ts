import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaysData } from '../../../src/desk/days-page.js';
import type { DeskParts } from '../../../src/desk/page.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { RunState, Trigger } from '../../../src/rules/run.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { noRuns } from '../../schedule/ledger-days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { hotels, loadHotels, openCases, threeCases } from '../cases/some-cases.js';
import { fakeOperations } from '../operations/fake-operations.js';
import { getData, getPage, now, readRows, runsOnly, startDesk, stopServers } from '../some-desk.js';
import { listDays, nightlyRun } from './some-days.js';

afterEach(stopServers);

const hourMs = 3_600_000;

/** Records an ended run without bookings, which began in the night after its day. */
async function addRun(
  ledger: Ledger,
  day: string,
  {
    state = 'succeeded',
    trigger = 'schedule',
  }: { readonly state?: RunState; readonly trigger?: Trigger } = {},
) {
  const startedAt = Date.parse(`${day}T00:00:00Z`) + 26 * hourMs;
  const run = await ledger.runs.create({ id: `run-${day}`, day, delivery: 'body', trigger, startedAt });
  if (state === 'collecting') return;
  const failure = {
    class: 'fatal',
    code: 'http-401',
    message: 'The service refuses the key <b>x</b>',
  } as const;
  await ledger.runs.settle(
    { runId: run.id, token: run.token },
    { state: state as 'succeeded', at: startedAt + 60_000, ...(state === 'failed' && { failure }) },
  );
}

describe('the page of days', () => {
  let ledger: DeskParts['ledger'];
  beforeEach(async () => {
    ledger = await openTemporaryLedger(() => now);
    // 13 and 16 are missing.
    for (const day of ['2026-11-12', '2026-11-14', '2026-11-15', '2026-11-17']) await addRun(ledger, day);
    await addRun(ledger, '2026-11-18', { state: 'failed' });
    await addRun(ledger, '2026-11-19', { trigger: 'replay' });
    await addRun(ledger, '2026-11-20', { state: 'collecting' });
  });

  const read = async (path: string, options: Partial<Parameters<typeof startDesk>[0]> = {}) => {
    const { url } = await startDesk({ ledger, role: 'operator', ...options });
    return (await getData(url, path)).data as DaysData;
  };
  const judgements = ({ days }: DaysData) => days.slice(-11).map(({ judgement }) => judgement);

  it('judges each day of twelve months', async () => {
    const data = await read('/');
    expect([data.days.length, data.days[0]?.day, data.days.at(-1)?.day]).toEqual([
      ...[356, '2025-12-01', '2026-11-21'],
    ]);
    expect(judgements(data)).toEqual([
      ...['not-due', 'sent', 'missing', 'sent', 'sent', 'missing'],
      ...['sent', 'attention', 'sent', 'unfinished', 'not-due'],
    ]);
    expect(data).toMatchObject({
      ...{ firstDay: '2026-11-12', lastGoodDay: '2026-11-12', deadline: null },
      after: { notGood: 4, due: 8, newestGoodDay: '2026-11-19' },
      ...{ nextRunAt: '2026-11-22T01:30:00.000Z', mappingsCompleteUntil: null, parts: { ledger: 'ok' } },
    });
  });

  it('says which days are late and what the next deadline is', async () => {
    await ledger.notices.noteFirst('deadline', Date.parse('2026-11-14T01:00:00Z'));
    const data = await read('/', { parts: { deadline: '02:00' } });
    // At two, the nightly runs had not begun; the deadline of 13 did not count yet.
    expect(data.days.filter(({ isLate }) => isLate).map(({ day }) => day)).toEqual([
      ...['2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'],
    ]);
    expect(data.deadline).toEqual({ day: '2026-11-21', at: '2026-11-22T01:00:00.000Z' });
  });

  it('says what is wrong with each component, and which problems are open', async () => {
    const subject = '2026-11-18';
    await ledger.notices.raise([
      { event: 'day-late', subject, day: subject, facts: {}, raisedAt: now - hourMs },
      { event: 'copy-stale', subject: 'mappings', facts: {}, raisedAt: now - hourMs },
    ]);
    const health = { look: async () => ({ ready: false, parts: { queue: 'away <b>' } }) };
    const { url } = await startDesk({ ledger, parts: { health } });
    const { text } = await getPage(url, '/');
    expect(text).toMatch(/<dt>queue<\/dt><dd><span class="mark bad">.* away &lt;b&gt;/);
    expect(text).toContain('Other open problems');
    // The day itself is reported as not good.
    expect(text).not.toContain('was not reviewed by its deadline');
    const { problems } = (await getData(url, '/')).data as DaysData;
    expect(problems).toContainEqual({
      ...{ event: 'day-late', severity: 'critical', day: subject, since: '2026-11-21T01:30:00.000Z' },
      title: '2026-11-18 was not reviewed by its deadline',
    });
  });

  it('never gives a day after one that is not good as the last good day', async () => {
    const { url } = await startDesk({ ledger });
    const { text } = await getPage(url, '/');
    expect(text).toContain('Last good day: <a class="whole" href="/days/2026-11-12">12 Nov 2026</a>.');
    expect(text).toContain('4 of the 8 days since then are not good; the newest good one is 19 Nov 2026.');
    expect(text).toContain(
      'href="/days/2026-11-18" title="18 Nov 2026: needs attention: The run failed. The s',
    );
    expect(text).not.toContain('<b>x</b>');
  });

  it('says which days are not good and why, newest first, with what helps', async () => {
    const { url } = await startDesk({ ledger, role: 'operator' });
    const { text } = await getPage(url, '/');
    const list = /<ul class="plain not-good">(.*?)<\/ul>/s.exec(text)?.[1] ?? '';
    expect([...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
      ...['/days/2026-11-20', '/runs/run-2026-11-20', '/days/2026-11-18', '/days/2026-11-18/run'],
      ...['/days/2026-11-16', '/days/2026-11-16/run', '/days/2026-11-13', '/days/2026-11-13/run'],
    ]);
    expect(list).toContain('The run failed. The service refuses the key &lt;b&gt;x&lt;/b&gt;.');
    const { text: ofViewer } = await getPage((await startDesk({ ledger })).url, '/');
    expect(ofViewer).toContain('4 days are not good');
    expect(ofViewer).not.toMatch(/href="\/days\/[^"]*\/run"/);
  });

  it('leads those who may operate to the replay of several days, and nobody selects days in the calendar', async () => {
    for (const [role, isOffered] of [
      ['operator', true],
      ['team', false],
    ] as const) {
      const { url } = await startDesk({ ledger, role });
      const { text } = await getPage(url, '/');
      expect(text.includes('href="/replay"')).toBe(isOffered);
      expect(text).not.toContain('type="checkbox"');
    }
  });
});

describe('the order of the page', () => {
  it('is who needs help, which nights are not good, and whether the machine is well', async () => {
    const { url } = await startDesk({ ledger: await openTemporaryLedger(() => now) });
    const { text } = await getPage(url, '/');
    const headings = [...text.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, words]) => words);
    expect(headings).toEqual(['Who needs help now', 'Nights', 'Is the machine well?', 'Calendar']);
    expect(text).toContain('Nobody: no booking is open.');
  });
});

describe('who needs help', () => {
  const inHouse = { hotel: 'H-9', booked: 9, copy: 70, stays: [['BR-9', '2026-11-19']] } as const;

  it('is a guest in house first, then the nearest check-in by the clock of the hotel', async () => {
    const ledger = await openTemporaryLedger(() => now);
    await loadHotels(ledger, hotels);
    await openCases(ledger, [...threeCases, inHouse]);
    const { url } = await startDesk({ ledger });
    const { text } = await getPage(url, '/');
    expect(readRows(text)).toEqual([
      ['hotel 9', 'in house since 19 Nov 2026, until 1 Mar 2027', 'unknown', '1', 'open', 'nobody'],
      ['Park Inn', '25 Nov 2026', 'unknown', '1', 'open', 'nobody'],
      ['hotel 9', '1 Dec 2026', '9 days to check-in', '1', 'open', 'nobody'],
      ['Grand Plaza', '5 Dec 2026', '13 days to check-in, 03:30 there', '3', 'open', 'nobody'],
    ]);
    expect(text).toContain(
      '6 open bookings in 4 cases, 1 of guests in house. <a href="/cases">All cases</a>',
    );
    const data = (await getData(url, '/')).data as DaysData;
    expect([data.openCases, data.urgentCases.map(({ id }) => id)]).toEqual([4, [4, 2, 3, 1]]);
  });

  it('shows the first ten, no dismissed case, and no note to those who may not see bookings', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const many = Array.from({ length: 13 }, (_, at) => ({
      ...{ hotel: `H-${at}`, booked: at + 1, copy: 70 },
      stays: [[`BR-${at}`, `2026-12-${30 - at}`]] as const,
    }));
    await openCases(ledger, many);
    const change = (id: number, changes: object) =>
      ledger.cases.changeById([id], ({ bookings: _, ...held }) => ({
        ...{ case: { ...held, ...changes }, bookings: [], actions: [] },
      }));
    await change(13, { state: 'dismissed' });
    await change(12, { note: 'BR-11 is for Ms Díaz' });
    const notes = async (role: 'viewer' | 'team') => {
      const { url } = await startDesk({ ledger, role });
      const data = (await getData(url, '/')).data as DaysData;
      expect(data.openCases).toBe(12);
      expect(data.urgentCases.map(({ id }) => id)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
      return data.urgentCases[0]?.note;
    };
    expect([await notes('viewer'), await notes('team')]).toEqual([null, 'BR-11 is for Ms Díaz']);
  });

  it('keeps its sign on the day until all bookings are resolved, and the day is not called good before', async () => {
    const ledger = await openTemporaryLedger(() => now);
    await addRun(ledger, '2026-11-20');
    const { url } = await startDesk({ ledger });
    const claim = 'each due day is good';
    expect((await getPage(url, '/')).text).toContain(claim);
    await openCases(ledger, [inHouse]);
    const { text } = await getPage(url, '/');
    expect(text).not.toContain(claim);
    expect(text).toContain(
      '1 day still needs somebody, the newest <a class="whole" href="/days/2026-11-20">',
    );
    expect(text).toMatch(/<a [^>]*0 bookings, 1 open">20<svg>.*?<b aria-hidden="true">1</);
    await ledger.cases.changeById([1], ({ bookings, ...held }) => ({
      case: held,
      bookings: bookings.map((one) => ({
        ...one,
        resolved: { as: 'rebooked', at: now, isAutomatic: false },
      })),
      actions: [],
    }));
    expect((await getPage(url, '/')).text).toContain(claim);
  });
});

describe('whether the machine is well', () => {
  const readFacts = async (parts: Partial<DeskParts>, ledger: Ledger) => {
    const { text } = await getPage((await startDesk({ ledger, parts })).url, '/');
    const pairs = [...text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)];
    return Object.fromEntries(
      pairs.map(([, name, value = '']) => [name, value.replace(/<[^>]*>/g, '').trim()]),
    );
  };

  it('names the next run and the deadline, and leaves out a mailbox that is not configured', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const { operations } = fakeOperations({ channels: [] });
    expect(await readFacts({ deadline: '06:00', operations }, ledger)).toEqual({
      'Next run': '22 Nov 2026, 02:30, in 23 h',
      Deadline: '21 Nov 2026, 06:00, in 2 h 30 min, for 20 Nov 2026',
      'Mapping copy': 'none: it was never synced',
      Channels: 'Nobody is told: no channel is configured.',
      ledger: 'ok',
    });
  });

  it('says when the mailbox was last read, and that it is not read any more', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const read = async () => (await readFacts({ mailboxPollMs: 300_000 }, ledger)).Mailbox;
    expect(await read()).toBe('not read: it never was. To see why: hotel-review doctor');
    await ledger.mails.noteMailbox(now - hourMs, true);
    expect(await read()).toBe('last read 21 Nov 2026, 02:30');
    await ledger.mails.noteMailbox(now - hourMs + 1, false);
    expect(await read()).toMatch(/^not read: last read 21 Nov 2026, 02:30/);
    await ledger.mails.noteMailbox(now - 2 * hourMs, true);
    expect(await read()).toBe('not read: last read 21 Nov 2026, 01:30. To see why: hotel-review doctor');
  });

  it('counts the channels whose newest message was not accepted', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const { operations } = fakeOperations({
      channels: [
        { name: 'mail', kind: 'email' },
        { name: 'chat', kind: 'slack' },
      ],
    });
    const read = async () => (await readFacts({ operations }, ledger)).Channels;
    expect(await read()).toBe('2 configured, none fails');
    await ledger.notices.raise([{ event: 'sync-failing', subject: 'mappings', facts: {}, raisedAt: now }]);
    await ledger.notices.route(
      () => ['mail', 'chat'].map((channel) => ({ id: channel, channel, dueAt: now })),
      now,
    );
    await ledger.notices.noteSent(['mail'], now);
    expect(await read()).toBe('2 configured, none fails');
    await ledger.notices.noteFailed(['chat'], { code: 'http-500', at: now, retryAt: now + 1 });
    expect(await read()).toBe('1 of 2 did not accept the last message');
  });
});

it('An empty ledger has no day that is good or missing', async () => {
  const { url } = await startDesk({ ledger: await openTemporaryLedger(() => now) });
  const { data } = await getData(url, '/');
  expect(data).toMatchObject({ firstDay: null, lastGoodDay: null, after: null });
  expect((await getPage(url, '/')).text).toContain('No day was reviewed yet');
});

it('The page stays small where every day of a year has much to say', async () => {
  const message =
    'The source is missing: exports/bookings-{day}.csv does not exist, and nobody knows why it does not';
  const days = listDays('2025-11-21', 366);
  const runs = days.map((day, index) =>
    nightlyRun(day, {
      ...{ state: index % 2 === 0 ? 'failed' : 'succeeded', trigger: 'replay' },
      failure: { class: 'data', code: 'missing', message },
      counts: { accepted: 5_000_000 - index * 9, rejected: 12_345 + index, affected: 123 + index },
    }),
  );
  const ledger = withReplaced(runsOnly(runs), {
    cases: { countUnresolvedByDay: async () => new Map(days.map((day) => [day, 1_000])) },
    runs: {
      summarise: async () => ({ runsByState: noRuns, firstDay: '2025-11-21' }),
    },
  });
  const { url } = await startDesk({ ledger, role: 'operator' });
  const { status, text } = await getPage(url, '/');
  expect([status, text.match(/<li><a class="/g)?.length]).toEqual([200, 356]);
  expect(Buffer.byteLength(text)).toBeLessThan(100_000);
});
