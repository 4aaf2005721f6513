import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { prepareDay } from '../support/day-folder.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';

/** Recent whenever this runs. */
const yesterday = businessDayAt(new Date(), 'Europe/Madrid').previous().iso;
const name = 'hotel-review.prom';

it('`run --metrics-file` says how the run ended, whatever ended it, in a file that node_exporter may read', async () => {
  const service: { answer: StandInAnswer } = { answer: { kind: 'text', status: 403, body: '' } };
  const { folder } = await prepareDay({}, () => service.answer);
  await folder.writeBookings(csvOf(12), yesterday);
  const run = async (...words: string[]) => {
    const umask = process.umask(0o077);
    const { exitCode } = await folder.run(['run', ...words, '--metrics-file', name]);
    process.umask(umask);
    expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o644);
    return [exitCode, ...readFileSync(join(folder.path, name), 'utf8').split('\n')];
  };
  const lines = (exitCode: number, state: string, pending: number) =>
    expect.arrayContaining([
      ...[exitCode, `hotel_review_last_run_exit_code ${exitCode}`, 'hotel_review_ledger_up 1'],
      `hotel_review_day_states{state="${state}"} 1`,
      `hotel_review_latest_day_bookings{state="pending"} ${pending}`,
    ]);
  expect(await run(yesterday)).toEqual(lines(1, 'failed', 12));
  service.answer = success;
  expect(await run(yesterday)).toEqual(lines(0, 'good', 0));
  expect(await run('9999-01-01')).toEqual(expect.arrayContaining([2, 'hotel_review_last_run_exit_code 2']));
  expect(await folder.run(['run', yesterday, '--metrics-file', 'nowhere/x.prom'])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("can't be written (ENOENT)"),
  });
});
