import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { startStandIn, success } from '../support/http-stand-in.js';
import { makeBookings } from '../support/made-bookings.js';

const bookings = makeBookings(25);
/** By our clock it is over long since. */
const evening = 'Fri, 20 Nov 2026 22:00:00 GMT';

/** @param api what the source's API says in its `Date`; absent for our time */
async function prepareClocks(service: string, api?: string) {
  const dates = { service, api };
  let listed = bookings.slice(0, 20);
  const source = await startStandIn(() => ({
    kind: 'json',
    body: listed,
    ...(dates.api !== undefined && { headers: { date: dates.api } }),
  }));
  onTestFinished(() => source.close());
  const { folder, standIn } = await prepareDay(
    {
      settings: {
        timezone: 'UTC',
        source: { kind: 'http', path: undefined, url: `http://127.0.0.1:${source.port}/?day={day}` },
      },
    },
    () => ({ ...success, headers: { date: dates.service } }),
  );
  return {
    folder,
    standIn,
    /** Both tell our time from now on, and the source has all bookings. */
    endDay() {
      dates.service = new Date().toUTCString();
      dates.api = undefined;
      listed = bookings;
    },
  };
}

const warning = 'warning: the clock of this machine is ';

it('a day that is not over by the clocks of the service and of the source is topped up later', async () => {
  const { folder, standIn, endDay } = await prepareClocks(evening, evening);
  const early = await folder.runDay();
  expect(early.report).toMatchObject({
    state: 'succeeded',
    isGood: false,
    notGood: [{ code: 'day-not-over' }],
  });
  expect(early.stderr.split(warning)).toHaveLength(2);
  expect(early.stderr).toContain('ahead of that of the service. Set the clock');
  expect(early.stderr).toContain('It was collected before the day was over: the clock of its machine was ');
  const { stdout } = await folder.run(['status']);
  expect(stdout).toContain(`${day}: collected before the day was over: the clock`);
  const again = await folder.runDay();
  expect(again.report).toMatchObject({ isGood: false, counts: { delivered: 0 } });
  endDay();
  const whole = await folder.runDay();
  expect(whole.report).toMatchObject({ isGood: true, topsUp: true, counts: { delivered: 5 } });
  expect(whole.stderr).not.toContain(warning);
  expectEachOnce(standIn, bookings);
});

it('the clock of the service alone is only a warning', async () => {
  const { folder } = await prepareClocks(evening);
  const { report, stderr } = await folder.runDay();
  expect(report).toMatchObject({ state: 'succeeded', isGood: true, notGood: [] });
  expect(stderr).toContain(warning);
});
