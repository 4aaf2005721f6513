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
    ['--out without --dry-run', ['run', '--day', day, '--out', 'bodies'], /--dry-run/],
    ['a range that runs backwards', ['replay', day, '--to', '2026-11-01'], /2026-11-01/],
  ])('rejects %s with exit 2', async (_, args, message) => {
    const { standIn, folder } = await prepare();
    expectError(await folder.run([...args, '--json']), { exitCode: 2, class: 'usage', message });
    expect(standIn.requests).toHaveLength(0);
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
