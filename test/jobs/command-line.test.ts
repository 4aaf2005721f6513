import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectError, expectReport } from '../support/expectations.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const bookings = makeBookings(120);
const prepare = () => prepareDay({ bookings: toCsv(bookings) });

describe('the command line', () => {
  it('refuses delivery by file in this version, with exit 2, and sends nothing', async () => {
    const { standIn, folder } = await prepare();
    const result = await folder.run(['run', '--day', day, '--delivery', 'file', '--json']);
    expectError(result, { exitCode: 2, class: 'configuration', message: /file/ });
    expectReport(await folder.run(['run', '--day', day, '--delivery', 'body', '--json']), {
      exitCode: 0,
      state: 'succeeded',
    });
    expectEachOnce(standIn, bookings);
  });

  it.each([
    ['an invalid day', ['run', '--day', '2026-02-30'], /2026-02-30/],
    ['an unknown option', ['run', '--dya', day], /--dya/],
    ['an unknown command', ['runn'], /runn/],
    ['a command below another one without its day', ['keys', 'forget'], /keys forget needs a day: /],
    ['a blank booking reference', ['guest', 'export', ' '], /expected a booking reference; see/],
    [
      'an erasure without a reason',
      ['guest', 'erase', 'BR-1', '--reason', ' '],
      /expected a reason after --reason; see/,
    ],
    ['--out without --dry-run', ['run', '--day', day, '--out', 'bodies'], /--dry-run/],
    [
      'a range that runs backwards',
      ['replay', day, '--to', '2026-11-01', '--late', '--reason', 'x'],
      /2026-11-01/,
    ],
  ])('rejects %s with exit 2', async (_, args, message) => {
    const { standIn, folder } = await prepare();
    expectError(await folder.run([...args, '--json']), { exitCode: 2, class: 'usage', message });
    expect(standIn.requests).toHaveLength(0);
  });

  it('cancels an unfinished day once, lists its rejects, and reviews it anew', async () => {
    const records = bookings.map((booking, at) => ({ ...booking, ServiceId: at < 50 ? 0 : 7 }));
    const { folder } = await prepareDay({ bookings: toCsv(records) });
    expectReport(await folder.runDay(), { exitCode: 1, state: 'failed' });
    const list = await folder.run(['rejected', day, '--json']);
    const { rejected, more } = list.json as { rejected: unknown[]; more: number };
    const [{ BookingReferenceId: reference } = {}] = bookings;
    expect(rejected[0]).toEqual({
      place: 2,
      reason: 'service-id-invalid',
      reference,
      field: 'ServiceId',
      value: '0',
    });
    expect({ exitCode: list.exitCode, listed: rejected.length, more }).toEqual({
      exitCode: 0,
      listed: 50,
      more: 0,
    });
    const cancelled = await folder.run(['cancel', day, '--reason', 'wrong export', '--json']);
    expect(cancelled.exitCode).toBe(0);
    expect(cancelled.json).toMatchObject({ day, state: 'cancelled', cancelReason: 'wrong export' });
    expect((await folder.run(['status', day])).stdout).toContain('wrong export');
    expect((await folder.run(['cancel', day, '--reason', 'again'])).exitCode).toBe(1);
    expect(await folder.run(['cancel', '2026-11-18', '--reason', 'none'])).toMatchObject({
      exitCode: 1,
      stdout: 'There is no run of 2026-11-18: nothing to cancel.\n',
    });
    await folder.configure({ maxRejectedShare: 1 });
    const anew = await folder.run(['run', day, '--json']);
    expectReport(anew, { exitCode: 0, state: 'succeeded', counts: { rejected: 50, delivered: 70 } });
  });

  it('reports a missing or invalid configuration by name, with exit 2', async () => {
    const { folder } = await prepare();
    const missing = await folder.run(['run', '--config', 'nowhere.yaml', '--json']);
    expectError(missing, { exitCode: 2, class: 'configuration', message: /nowhere\.yaml/ });
    await folder.configure({ service: { baseUrl: 'http://service.example.com/api/3.0' } });
    expectError(await folder.runDay(), { exitCode: 2, class: 'configuration', message: /service\.baseUrl/ });
    await folder.configure({ service: { apiKey: `\${NOT_IN_THE_ENVIRONMENT}` } });
    expectError(await folder.runDay(), {
      exitCode: 2,
      class: 'configuration',
      message: /NOT_IN_THE_ENVIRONMENT/,
    });
  });

  it('accepts --config and --json before or after the command, and paths relative to the configuration', async () => {
    const { standIn, folder } = await prepare();
    const before = await folder.run(['--json', '--config', 'hotel-review.yaml', 'run', '--day', day]);
    expectReport(before, { exitCode: 0, state: 'succeeded' });
    const status = await folder.run(['status', day, '--config', folder.configurationFile, '--json']);
    expect(status.json).toMatchObject({ runs: [{ runId: before.report.runId }] });
    expectEachOnce(standIn, bookings);
  });
});
