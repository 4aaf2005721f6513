import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { businessDayAt } from '../../src/booking/business-day.js';
import { prepareDay } from '../support/day-folder.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import { nodeExporterNeeds, startNodeExporter } from '../support/node-exporter.js';
import { startProgram } from '../support/program.js';
import { command } from '../support/sandbox-command.js';

/** Recent whenever this runs. */
const yesterday = businessDayAt(new Date(), 'Europe/Madrid').previous();
const name = 'hotel-review.prom';

it('node_exporter reads how `run --metrics-file` ended, whatever ended it, and whatever its umask', async ({
  skip,
}) => {
  skip(nodeExporterNeeds !== undefined, nodeExporterNeeds);
  const service: { answer: StandInAnswer } = { answer: { kind: 'hang' } };
  const { folder, standIn } = await prepareDay(
    { settings: { workers: { stopSeconds: 1 } } },
    () => service.answer,
  );
  await folder.writeBookings(csvOf(12), yesterday.iso);
  const exporter = await startNodeExporter(folder.path);
  onTestFinished(() => exporter.stop());
  async function scrape() {
    expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o644);
    const text = await exporter.scrape();
    expect(text).toMatch(/^node_textfile_scrape_error 0$/m);
    return text.split('\n').filter((line) => line.startsWith('hotel_review_'));
  }
  const run = ['run', yesterday.iso, '--metrics-file', name];

  const stopped = startProgram(
    'sh',
    ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, command, ...run],
    { cwd: folder.path, env: { PATH: process.env.PATH, TMPDIR: folder.temporaryFolder } },
  );
  await standIn.received(1);
  stopped.kill('SIGTERM');
  expect((await stopped.ended).exitCode).toBe(1);
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'hotel_review_last_run_exit_code 1',
      'hotel_review_ledger_up 1',
      'hotel_review_day_states{state="delivering"} 1',
      'hotel_review_latest_day_bookings{state="pending"} 12',
    ]),
  );

  service.answer = success;
  expect((await folder.run(run)).exitCode).toBe(0);
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'hotel_review_last_run_exit_code 0',
      'hotel_review_day_states{state="good"} 1',
      'hotel_review_latest_day_bookings{state="pending"} 0',
    ]),
  );
  expect((await folder.run(['run', '9999-01-01', '--metrics-file', name])).exitCode).toBe(2);
  expect(await scrape()).toContain('hotel_review_last_run_exit_code 2');

  const elsewhere = await folder.run([...run.slice(0, -1), 'nowhere/x.prom']);
  expect(elsewhere).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("can't be written (ENOENT)"),
  });
});
