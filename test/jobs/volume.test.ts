import { describe, expect, it } from 'vitest';
import { showDay } from '../../src/desk/parts.js';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { auditOf, reached, visitDesk, writeUsers } from '../support/desk-visit.js';
import { runsEveryCase } from '../support/engine.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

/** Four days before. */
const earlier = '2026-11-16';
const usual = 42;
const half = 20;
const whole = makeBookings(usual, { first: 1_001 });
const drop = { code: 'volume-dropped', accepted: half, usual };

async function prepareHalfAnExport() {
  const { folder, standIn } = await prepareDay({ bookings: toCsv(whole.slice(0, half)) });
  await folder.writeBookings(toCsv(makeBookings(usual)), earlier);
  return { folder, standIn };
}

async function latestOf(folder: DayFolder) {
  const { json } = await folder.run(['status', day, '--json']);
  return (json as { readonly runs: readonly Record<string, unknown>[] }).runs[0];
}

describe('half an export', () => {
  it('is sent, and its day is good only once somebody has accepted it', async () => {
    const { folder, standIn } = await prepareHalfAnExport();
    const first = await folder.run(['run', earlier, '--json']);
    expectReport(first, { exitCode: 0, state: 'succeeded', counts: { delivered: usual } });
    expect(first.report).toMatchObject({ isGood: true, notGood: [] });
    expect(first.json).toHaveProperty('volume', { usual: null });
    expect(first.stderr).toContain('not compared: no earlier day is known');

    const sent = await folder.runDay();
    expectReport(sent, { exitCode: 5, state: 'succeeded', counts: { delivered: half } });
    const notGood = [{ ...drop, acceptedAt: null, acceptedBy: null }];
    expect(sent.report).toMatchObject({ isGood: false, notGood, volume: { accepted: half, usual } });
    expect(sent.stderr).toContain(`run ${day} --accept-volume`);
    const calls = standIn.requests.length;

    expect((await folder.runDay()).exitCode).toBe(5);
    expect(await latestOf(folder)).toMatchObject({ isGood: false, notGood });

    const accepted = await folder.run(['run', day, '--accept-volume', '--json']);
    expect(accepted.exitCode).toBe(0);
    const byWhom = { acceptedAt: expect.stringMatching(/^20.*Z$/), acceptedBy: expect.stringMatching(/./) };
    const accepting = { runId: sent.report.runId, isGood: true, notGood: [{ ...drop, ...byWhom }] };
    expect(accepted.report).toMatchObject(accepting);
    expect(await latestOf(folder)).toMatchObject(accepting);
    expect((await folder.runDay()).exitCode).toBe(0);
    expect(standIn.requests).toHaveLength(calls);
    expect((await auditOf(folder)).at(-1)).toMatchObject({
      ...{ action: 'run', subject: day },
      details: { run: sent.report.runId, acceptVolume: true },
    });

    // What comes late to an accepted day needs no second acceptance.
    await folder.writeBookings(toCsv(whole.slice(0, half + 1)));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, report: { isGood: true, counts: { delivered: 1 } } });
  });

  it('is topped up, and the day is good', async () => {
    const { folder, standIn } = await prepareHalfAnExport();
    await folder.run(['run', earlier, '--json']);
    expect((await folder.runDay()).exitCode).toBe(5);
    const still = await folder.run(['replay', day, '--late', '--json']);
    expect(still).toMatchObject({ exitCode: 5, report: { isGood: false, counts: { delivered: 0 } } });
    await folder.writeBookings(toCsv(whole));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, report: { isGood: true, notGood: [] } });
    expectEachOnce(standIn, [...makeBookings(usual), ...whole]);
    expect((await folder.runDay()).exitCode).toBe(0);
  });

  if (runsEveryCase)
    it('is found by the minimum without any earlier day, and accepted in advance', async () => {
      const { folder } = await prepareHalfAnExport();
      await folder.configure({ volume: { minimum: half + 1 } });
      const sent = await folder.runDay();
      expect(sent.exitCode).toBe(5);
      expect(sent.report).toMatchObject({ notGood: [{ accepted: half, usual: null, minimum: half + 1 }] });
      await folder.writeBookings(toCsv(makeBookings(3)), earlier);
      const accepted = await folder.run(['run', earlier, '--accept-volume', '--json']);
      expect(accepted).toMatchObject({ exitCode: 0, report: { isGood: true } });
    });

  if (runsEveryCase)
    it('is accepted in the desk, where it is the first thing to act on', async () => {
      const { folder, standIn } = await prepareHalfAnExport();
      await folder.configure({
        server: { users: './users.json' },
        schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
      });
      writeUsers(folder, { olga: 'operator' });
      await folder.run(['run', earlier]);
      const { report } = await folder.runDay();
      const calls = standIn.requests.length;
      const desk = await visitDesk(folder, 'olga');
      expect(await desk.look(`/days/${day}/accept`)).toMatchObject({
        button: `Accept ${showDay(day)}`,
        lines: [
          expect.stringContaining(`${half} bookings, usually ${usual}`),
          expect.stringContaining('Check the export'),
        ],
      });
      expect((await desk.act(`/days/${day}/accept`, { run: 'another' })).status).toBe(409);
      expect((await desk.act(`/days/${day}/accept`, { run: report.runId })).status).toBe(200);
      expect(await reached(desk, day, 'succeeded')).toMatchObject({
        isGood: true,
        notGood: [{ ...drop, acceptedBy: 'olga (desk)' }],
      });
      expect((await desk.look(`/days/${day}/accept`)).refusal).toContain('nobody has accepted');
      await desk.stop();
      expect(standIn.requests).toHaveLength(calls);
      expect((await auditOf(folder)).at(-1)).toMatchObject({
        who: 'olga (desk)',
        details: { acceptVolume: true },
      });
    });
});
