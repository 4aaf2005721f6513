import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaysData } from '../../../src/desk/days-page.js';
import type { DeskParts } from '../../../src/desk/page.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { RunState, Trigger } from '../../../src/ledger/run.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { noRuns } from '../../server/some-server.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { getData, getPage, now, runsOnly, startDesk, stopServers } from '../some-desk.js';
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
      ...{ firstDay: '2026-11-12', lastGoodDay: '2026-11-12', lateDays: [], deadline: null },
      after: { day: '2026-11-13', judgement: 'missing', notGood: 4, due: 8, newestGoodDay: '2026-11-19' },
      ...{ nextRunAt: '2026-11-22T01:30:00.000Z', mappingsCompleteUntil: null, parts: { ledger: 'ok' } },
      ...{ latestVolume: { day: '2026-11-19', accepted: 0, usual: 0 } },
    });
  });

  it('says which days are late and what the next deadline is', async () => {
    await ledger.notices.noteFirst('deadline', Date.parse('2026-11-14T01:00:00Z'));
    const data = await read('/', { parts: { deadline: '02:00' } });
    // At two, the nightly runs had not begun; the deadline of 13 did not count yet.
    expect(data.days.filter(({ isLate }) => isLate).map(({ day }) => day)).toEqual([
      ...['2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'],
    ]);
    expect(data.lateDays).toEqual(['2026-11-16', '2026-11-18', '2026-11-20']);
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
    expect(text).toContain('queue</span>: away &lt;b&gt;');
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
    expect(text).toMatch(/<dt>Last good day<\/dt><dd><strong><a href="\/days\/2026-11-12">/);
    expect(text).toContain(
      '4 of the 8 days since then are not good; the newest good one is <span class="whole">2026-11-19',
    );
    expect(text).toContain(
      'href="/days/2026-11-18" aria-label="18 Nov: needs attention: The run failed. The service',
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

it('An empty ledger has no day that is good or missing', async () => {
  const { url } = await startDesk({ ledger: await openTemporaryLedger(() => now) });
  const { data } = await getData(url, '/');
  expect(data).toMatchObject({ firstDay: null, lastGoodDay: null, after: null });
  expect((await getPage(url, '/')).text).toContain('none yet');
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
    runs: {
      summarise: async () => ({ runsByState: noRuns, firstDay: '2025-11-21' }),
      listVolumes: async (asked) =>
        asked.map((day, index) => ({ day, accepted: 4_900_000 + index, providers: null })),
    },
  });
  const { url } = await startDesk({ ledger, role: 'operator' });
  expect(Buffer.byteLength((await getPage(url, '/')).text)).toBeLessThan(100_000);
});
