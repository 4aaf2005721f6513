import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findHome } from '../../jobs/process.js';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectError, expectReport } from '../support/expectations.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

describe('the installed command', () => {
  it('can be started by its name, as `npx --no hotel-review` does, by users without a home, too', async () => {
    const packageFile = new URL('../../package.json', import.meta.url);
    const { bin, version } = JSON.parse(await readFile(packageFile, 'utf8'));
    const command = fileURLToPath(new URL(bin['hotel-review'], packageFile));
    expect(execFileSync(command, ['--version'], { encoding: 'utf8' })).toMatch(
      new RegExp(`^${version.replaceAll('.', '\\.')} \\(.+\\)\\n$`),
    );
    const noEntry = () => {
      throw new Error('ENOENT: no such file or directory, uv_os_homedir');
    };
    expect(findHome(noEntry)).toBeUndefined();
  });
});

/** Four days before the day of the tests. */
const earlier = '2026-11-16';
const bookings = makeBookings(42);
const half = bookings.slice(0, 20);
const down: StandInAnswer = { kind: 'text', status: 503, body: '' };

/** As a script calls it. */
function script(folder: DayFolder) {
  return (...words: string[]) => folder.run([...words, '--json'], { asProcess: true });
}

describe('a script', () => {
  it('reads from exit code and one JSON object what became of a day: 0, 1, 2 and 5', async () => {
    const service: { answer: StandInAnswer } = { answer: down };
    const settings = {
      body: { batchSize: 21, concurrency: 1 },
      retry: { tries: 2 },
      source: { maxRepeatedShare: 0.5 },
    };
    const { standIn, folder } = await prepareDay({ settings }, () => service.answer);
    await folder.writeBookings(toCsv(bookings), earlier);
    await folder.writeBookings(toCsv(half));
    const run = script(folder);
    const before = await readdir(folder.path);
    expect(await run('status')).toMatchObject({ exitCode: 0, json: { runs: [] } });
    expectError(await run('runn'), { exitCode: 2, class: 'usage', message: /did you mean run/ });
    expect(await readdir(folder.path)).toEqual(before);

    // Two batches, and two tries for each.
    const failed = await run('run', earlier);
    expectReport(failed, { exitCode: 1, state: 'failed', counts: { accepted: 42, delivered: 0 } });
    expect(failed.stderr).toMatch(/^Once the cause is fixed: .*hotel-review\S* run 2026-11-16$/m);
    expect(standIn.requests).toHaveLength(4);

    service.answer = success;
    const done = await run('run', earlier);
    expectReport(done, { exitCode: 0, state: 'succeeded', counts: { delivered: 42 } });
    expect(done.report.runId).toBe(failed.report.runId);
    expectEachOnce(standIn, bookings);

    const repeated = await run('run', day);
    expectReport(repeated, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(repeated.report.error?.message).toContain(`run ${day} --accept-repeated`);
    expectReport(await run('run', day, '--accept-repeated'), {
      exitCode: 5,
      state: 'succeeded',
      counts: { delivered: 20 },
    });
    expect(await run('run', day, '--accept-volume')).toMatchObject({ exitCode: 0, report: { isGood: true } });
    expect((await run('run', day)).exitCode).toBe(0);
    // What comes late to an accepted day needs no second acceptance.
    const oneMore = bookings.slice(0, 21);
    await folder.writeBookings(toCsv(oneMore));
    expect(await run('replay', day, '--late')).toMatchObject({ exitCode: 0, report: { isGood: true } });
    expectEachOnce(standIn, [...bookings, ...oneMore]);
  });
});
