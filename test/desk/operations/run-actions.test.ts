import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import { LedgerUnusableError } from '../../../src/ledger/errors.js';
import { DayBusyError } from '../../../src/review/day/join-run.js';
import { collectedRun, done, perform, references, rightOf } from '../../contracts/ledger/days.js';
import { collectedFileRun, overdue, performUpTo } from '../../contracts/ledger/file-days.js';
import { now } from '../some-desk.js';
import { addRun, openOperatorsDesk } from './asking.js';

const day = '2026-11-19';
const shownDay = '19 Nov 2026';
const dropped = { class: 'data', code: 'volume-dropped', message: 'only 3 of usually 900' } as const;

describe('running a day', () => {
  it('says that it starts one without a run, and starts it', async () => {
    const { preview, send, asked, recorded } = await openOperatorsDesk();
    expect(await preview(`/days/${day}/run`)).toMatchObject({
      status: 200,
      data: {
        lines: [`${shownDay} has no run: a new one collects and sends all of it.`],
        button: `Run ${shownDay}`,
        runId: null,
      },
    });
    const done = await send(`/days/${day}/run`);
    expect(done.data).toEqual({ message: expect.stringContaining(`run-of-${day}`), next: `/days/${day}` });
    expect(asked).toEqual([{ asked: 'run', day, options: {} }]);
    expect(recorded).toMatchObject([{ who: 'ana (desk)', action: 'run', subject: day }]);
  });

  it('says that it resumes a failed run, why that failed, and offers to accept its volume', async () => {
    const { ledger, preview, page, send, asked, recorded } = await openOperatorsDesk();
    const id = await addRun(ledger, { day }, { state: 'failed', failure: dropped });
    const { data } = await preview(`/days/${day}/run`);
    expect(data).toMatchObject({ opening: 'resume', runId: id, button: `Resume run ${id}` });
    expect(data.lines).toEqual([
      `Run ${id} failed: only 3 of usually 900`,
      'Nothing has been sent yet: the day is collected from the start.',
      'The schedule does not try it again: it waits for this.',
    ]);
    const box = '<input type="checkbox" name="acceptVolume" value="yes">';
    expect(await page(`/days/${day}/run`)).toContain(box);
    await addRun(ledger, { day: '2026-11-18' }, { state: 'failed', failure: { ...dropped, code: 'x' } });
    expect(await page('/days/2026-11-18/run')).not.toContain('acceptVolume');
    await send(`/days/${day}/run`, { acceptVolume: 'yes', reason: 'a holiday' });
    expect(asked).toEqual([
      {
        ...{ asked: 'run', day },
        options: { reason: 'a holiday', accepts: { kinds: ['volume'], by: 'ana (desk)' } },
      },
    ]);
    expect(recorded).toMatchObject([{ details: { reason: 'a holiday', acceptVolume: true } }]);
  });

  it('has no button for a day that is done, or that has not begun, which it refuses', async () => {
    const { ledger, preview, page, send, asked } = await openOperatorsDesk();
    const id = await addRun(ledger, { day }, { state: 'succeeded' });
    // The ledger knows no collect, so the day was over when the run started.
    expect((await preview(`/days/${day}/run`)).data.refusal).toBe(
      `${shownDay} is done: run ${id} succeeded. To send it again, or what was booked late, replay it.`,
    );
    expect(await page(`/days/${day}/run`)).not.toContain('<textarea');
    expect((await preview('/days/2027-01-01/run')).data.refusal).toBe(
      '1 Jan 2027 has not started: in Europe/Madrid it is 21 Nov 2026.',
    );
    expect([(await send('/days/2027-01-01/run')).status, asked]).toEqual([409, []]);
  });

  it.each([
    ['a day that is being run', new DayBusyError('that day is being run'), 409, 'that day is being run'],
    ['a ledger that cannot be used', new LedgerUnusableError('/srv/ledger.db', 'too new'), 503, 'ledger'],
  ])('is refused for %s, and its path is no concern of the caller', async (_, error, status, words) => {
    const { send } = await openOperatorsDesk({ run: () => Promise.reject(error) });
    const { data, ...answer } = await send(`/days/${day}/run`);
    expect([answer.status, data]).toEqual([
      status,
      { error: { class: expect.any(String), message: expect.stringContaining(words) } },
    ]);
    expect(JSON.stringify(data)).not.toContain('/srv');
  });

  it('has no button where only bookings that no earlier run delivered would be sent, and nobody can tell which', async () => {
    const { ledger, preview } = await openOperatorsDesk();
    const run = await collectedRun(ledger, 'short-of-one', { day, bookings: references(3), expected: 4 });
    await perform(ledger, run, 'batch 0', done);
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: now });
    expect((await preview(`/days/${day}/run`)).data).toMatchObject({
      opening: 'new',
      lines: [
        'Run short-of-one is succeeded.',
        'It did not cover the whole day: a new run sends what is missing.',
      ],
    });
    await ledger.guests.blankNames('2027-01-01', blankNames);
    const { data } = await preview(`/days/${day}/run`);
    expect(data.refusal).toContain(`late bookings of ${shownDay} can't be told apart`);
    expect(data.refusal).toContain(`\`hotel-review replay ${day} --reason TEXT\``);
  });
});

describe('cancelling a run', () => {
  it('names the run, and cancels it', async () => {
    const { ledger, preview, send, asked, recorded } = await openOperatorsDesk();
    const id = await addRun(ledger, { day });
    expect((await preview(`/days/${day}/cancel`)).data).toMatchObject({
      ...{ button: `Cancel run ${id}`, state: 'collecting' },
      lines: [expect.stringContaining('nobody will resume it')],
    });
    expect((await send(`/days/${day}/cancel`, { reason: 'wrong export' })).status).toBe(200);
    expect(asked).toEqual([{ asked: 'cancel', day, reason: 'wrong export' }]);
    expect(recorded).toMatchObject([{ action: 'cancel', subject: day, details: { reason: 'wrong export' } }]);
  });

  it('cancels one that has not started', async () => {
    const { ledger, preview } = await openOperatorsDesk();
    await ledger.wanted.want({ day, runId: 'promised', mode: 'run', trigger: 'hook', wantedAt: 1 });
    expect((await preview(`/days/${day}/cancel`)).data).toMatchObject({
      ...{ button: 'Cancel run promised', runId: 'promised', state: 'not-started' },
      lines: ['Run promised has not started yet, and will not.'],
    });
  });

  it('has no button without a run, or for one that has ended, also if it ended since', async () => {
    const { ledger, preview, send } = await openOperatorsDesk({ cancel: async () => ({ kind: 'nothing' }) });
    expect((await preview(`/days/${day}/cancel`)).data.refusal).toBe(`${shownDay} has no run.`);
    const { status, data } = await send(`/days/${day}/cancel`, { reason: 'x' });
    expect([status, data]).toMatchObject([409, { error: { message: `${shownDay} has no run.` } }]);
    const id = await addRun(ledger, { day }, { state: 'succeeded' });
    const done = `Run ${id} is succeeded: nothing to cancel.`;
    expect((await preview(`/days/${day}/cancel`)).data.refusal).toBe(done);
  });
});

it('Looking for a result says when the next look is due, and is possible only while one is awaited', async () => {
  const { ledger, preview, send, asked, recorded } = await openOperatorsDesk();
  const look = async () => (await preview(`/days/${day}/look`)).data;
  const run = await collectedFileRun(ledger, 'by-file', { day, file: 3 });
  expect((await look()).refusal).toContain('no run that awaits a result');
  await performUpTo(ledger, run, 'trigger');
  const awaits = 'Run by-file awaits its result.';
  expect((await look()).lines).toEqual([awaits, 'A look is due now.']);
  const until = now + 60_000;
  const evidence = { code: 'result-absent' };
  await perform(ledger, run, 'await-result', { kind: 'waiting', evidence, until });
  expect(await look()).toMatchObject({
    nextLookAt: new Date(until).toISOString(),
    lines: [awaits, 'The next look is due at 21 Nov 2026, 03:31. This one comes before.'],
  });
  await send(`/days/${day}/look`);
  expect(asked).toEqual([{ asked: 'look', day }]);
  expect(recorded).toMatchObject([{ action: 'look', subject: day }]);
});

it('A look for an overdue result comes before any other', async () => {
  const { ledger, preview } = await openOperatorsDesk();
  const run = await collectedFileRun(ledger, 'by-file', { day });
  await performUpTo(ledger, run, 'trigger');
  await perform(ledger, run, 'await-result', overdue);
  expect((await preview(`/days/${day}/look`)).data).toMatchObject({
    ...{ runId: 'by-file', nextLookAt: null },
    lines: ['Run by-file awaits its result.', 'It is overdue, and is no longer looked for.'],
  });
});

it('Many affected bookings are accepted for the run that was seen, and no other', async () => {
  const { ledger, preview, send, asked } = await openOperatorsDesk();
  const path = `/days/${day}/accept-affected`;
  expect((await preview(path)).data.refusal).toContain('no such run that nobody has accepted');
  const implausible = { affected: 30, judged: 200 };
  const runId = await addRun(ledger, { day }, { state: 'succeeded', implausible });
  expect((await preview(path)).data).toMatchObject({ runId, ...implausible });
  expect((await send(path, { run: 'older' })).status).toBe(409);
  expect((await send(`/days/${day}/accept`, { run: runId })).status).toBe(409);
  expect((await send(path, { run: runId })).status).toBe(200);
  expect(asked).toEqual([{ asked: 'accept', runId, by: 'ana (desk)', kinds: ['affected'] }]);
});
