import { describe, expect, it } from 'vitest';
import { claimStep, collectedRun, done, perform, rightOf } from '../../contracts/ledger/days.js';
import { now, readRows } from '../some-desk.js';
import { addRun, openOperatorsDesk } from './asking.js';

const day = '2026-11-19';
const shownDay = '19 Nov 2026';
const failure = { class: 'retryable', code: 'tries-spent', message: 'the service was down' } as const;

describe('replaying a day', () => {
  it('says what happens, and replays the day as it was seen', async () => {
    const { ledger, preview, send, asked, recorded } = await openOperatorsDesk();
    const id = await addRun(ledger, { day }, { state: 'failed', failure });
    const { data } = await preview(`/days/${day}/replay`);
    expect(data).toMatchObject({
      button: `Replay ${shownDay}`,
      days: [{ day, action: 'new-run', runId: null, replaces: id }],
    });
    const seen = String(data.seen);
    const done = await send(`/days/${day}/replay`, { seen, reason: 'new export' });
    expect(done.data).toMatchObject({ next: `/days/${day}` });
    expect(asked).toMatchObject([
      { days: [{ day: { iso: day }, seenRunId: id }], request: { mode: 'all', reason: 'new export' } },
    ]);
    expect(recorded).toMatchObject([
      { action: 'replay', subject: day, details: { which: 'all', reason: 'new export' } },
    ]);
  });

  it('refuses a form from before somebody else replayed the day', async () => {
    const { ledger, preview, send, asked } = await openOperatorsDesk();
    const { data } = await preview(`/days/${day}/replay`);
    await addRun(ledger, { day }, { state: 'succeeded' });
    const second = await send(`/days/${day}/replay`, { seen: String(data.seen), reason: 'x' });
    expect([second.status, asked]).toEqual([409, []]);
    expect(second.data).toMatchObject({ error: { message: expect.stringContaining('have changed') } });
  });

  it('passes on what the engine refuses', async () => {
    const { preview, send } = await openOperatorsDesk({
      replay: async () => ({ wanted: [], left: [{ day, why: `${day} is being run by another process` }] }),
    });
    const { data } = await preview(`/days/${day}/replay`);
    const refused = await send(`/days/${day}/replay`, { seen: String(data.seen), reason: 'x' });
    expect(refused).toMatchObject({
      status: 409,
      data: { error: { message: `${shownDay}: ${shownDay} is being run by another process` } },
    });
  });
});

describe('the number of bookings that a replay sends', () => {
  /** A day is done, one has no run, one failed with six of ten bookings pending, and one is being worked on. */
  async function openCountedDays() {
    const desk = await openOperatorsDesk();
    const { ledger } = desk;
    const run = await collectedRun(ledger, 'is-done', { day: '2026-11-15' });
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: now });
    const failed = await collectedRun(ledger, 'has-failed', { day: '2026-11-17' });
    await perform(ledger, failed, 'batch 0', done);
    await ledger.runs.settle(rightOf(failed), { state: 'failed', failure, at: now });
    const performed = await collectedRun(ledger, 'is-performed', { day: '2026-11-18' });
    await claimStep(ledger, performed, 'batch 0');
    return desk;
  }

  it('is of the days that are reviewed, by what their latest runs read; a refused day has its reason and is not counted', async () => {
    const { preview, page } = await openCountedDays();
    const path = '/replay?from=2026-11-15&to=2026-11-18';
    expect((await preview(path)).data).toMatchObject({
      lines: [
        expect.stringContaining('A new run collects the day'),
        '3 days of 4 would be reviewed, at most 2 at once.',
        'Bookings to send: 20, by the latest runs; unknown for 1 day.',
      ],
      button: 'Replay 3 days',
    });
    expect(readRows(await page(path))).toEqual([
      ['15 Nov 2026', 'sent', '10', 'new run'],
      ['16 Nov 2026', 'no run', 'unknown', 'new run'],
      ['17 Nov 2026', 'failed', '10', 'new run; cancels run has-failed'],
      ['18 Nov 2026', 'delivering', '', 'refused: 18 Nov 2026 is being run by another process'],
    ]);
  });

  it('is what is pending where runs are resumed', async () => {
    const { preview, page } = await openCountedDays();
    const path = '/replay?from=2026-11-15&to=2026-11-17&which=failed';
    expect((await preview(path)).data.lines).toContain('Bookings to send: 6, by the latest run.');
    expect(readRows(await page(path)).map(([, , bookings]) => bookings)).toEqual(['', '', '6']);
  });

  it('is unknown for late bookings, a day without a collected run, and a run of a part of its day', async () => {
    const { ledger, preview } = await openCountedDays();
    await addRun(ledger, { day: '2026-11-19' }, { state: 'failed', failure });
    const topUp = await collectedRun(ledger, 'tops-up', { day: '2026-11-20', topsUp: true });
    await ledger.runs.settle(rightOf(topUp), { state: 'succeeded', at: now });
    for (const path of ['15/replay?which=late', '16/replay', '19/replay', '20/replay'])
      expect([path, (await preview(`/days/2026-11-${path}`)).data.lines]).toEqual([
        ...[path, expect.arrayContaining(['Bookings to send: unknown until they are collected.'])],
      ]);
  });
});

describe('replaying several days', () => {
  async function openMonth() {
    const desk = await openOperatorsDesk();
    await addRun(desk.ledger, { day: '2026-11-16' }, { state: 'succeeded' });
    await addRun(desk.ledger, { day: '2026-11-18' }, { state: 'failed', failure });
    return desk;
  }

  it.each([
    ['missing', ['2026-11-17', '2026-11-19']],
    ['failed', ['2026-11-18']],
    ['late', ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']],
  ])('of a range, %s', async (which, days) => {
    const { preview, send, asked, recorded } = await openMonth();
    const path = `/replay?from=2026-11-16&to=2026-11-19&which=${which}`;
    const { data } = await preview(path);
    expect(data).toMatchObject({ button: `Replay ${days.length} day${days.length === 1 ? '' : 's'}` });
    expect(data.days).toHaveLength(4);
    await send(path, { seen: String(data.seen), reason: 'a new mapping' });
    expect(asked.map((one) => 'days' in one && one.days.map((each) => each.day.iso))).toEqual([days]);
    expect(asked).toMatchObject([{ request: { mode: which } }]);
    expect(recorded).toMatchObject([
      { action: 'replay', subject: '2026-11-16 to 2026-11-19', details: { which, reason: 'a new mapping' } },
    ]);
  });

  it('has no button where there is nothing to replay, and says why', async () => {
    const { preview, page } = await openMonth();
    for (const [query, refusal] of [
      ['', /Say which days/],
      ['?to=2026-11-19', /Say which days/],
      ['?from=2026-11-19&to=2026-11-16', /is before/],
      ['?from=2027-01-01', /has not started/],
      ['?from=2024-01-01&to=2026-11-19', /at most 366 days/],
      ['?from=2026-11-16&which=failed', /There is nothing to do/],
    ] as const) {
      const { status, data } = await preview(`/replay${query}`);
      expect([query, status, data.refusal]).toEqual([query, 200, expect.stringMatching(refusal)]);
      const text = await page(`/replay${query}`);
      expect(text).not.toContain('method="post" action="/replay');
      expect(text).toContain('name="from"');
    }
  });

  it('says how many earlier days wait for their turn', async () => {
    const { preview, ledger } = await openOperatorsDesk();
    for (const day of ['2026-11-16', '2026-11-17', '2026-11-18'])
      await ledger.wanted.want({ day, runId: `r-${day}`, mode: 'replay', trigger: 'replay', wantedAt: now });
    expect((await preview('/replay')).data.lines).toEqual([
      'Waiting for their turn: 3 days of earlier replays.',
    ]);
  });
});
