import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../src/booking/booking.js';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';
import { expectNothingElse, prepareGuardedPlace } from './guarded-place.js';

describe('a booking that contains SQL, a formula, a path, a command or a header', () => {
  const server = startForSuite(openSsh);
  const values = [
    "x'); DROP TABLE bookings; --",
    '=HYPERLINK("https://evil.example.com","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    '../../../etc/passwd',
    '$(touch touched) `touch touched`',
    '%0d%0aX-Injected: 1',
    `\${HOME} {day} :day ? $1`,
    '--config=/etc/passwd',
    '{"ServiceId": 8, "__proto__": {"state": "done"}}',
    // Control characters become a blank for every source. (Design 4.)
    'x\r\nX-Injected: 1\r\n\r\n',
  ];
  const fields = ['BookingReferenceId', 'BookingClientName', 'ProviderName', 'ProviderHotelId'] as const;
  const dates = { CheckInDate: '2026-12-01', CheckOutDate: '2026-12-08' };
  const bookings = values.map((value, index) => ({
    ServiceId: index + 1,
    ...Object.fromEntries(fields.map((field) => [field, value.replaceAll('\r\n', ' ').trim()])),
    ...dates,
  }));
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const csv = [
    ['ServiceId', ...fields, ...Object.keys(dates)].join(),
    ...values.map((value, index) =>
      [index + 1, ...fields.map(() => quote(value)), ...Object.values(dates)].join(),
    ),
    '',
  ].join('\n');

  it('arrives by body unchanged and without effect', async () => {
    const { folder, standIn, use } = await prepareGuardedPlace();
    await use({
      kind: 'csv',
      path: 'bookings-{day}.csv',
      columns: Object.fromEntries(serviceFields.map((name) => [name, name])),
    });
    await folder.writeBookings(csv);
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 10 } });
    expectEachOnce(standIn, bookings);
    for (const { rawHeaders } of standIn.requests) expect(rawHeaders.join()).not.toMatch(/injected/i);
    expectNothingElse(folder);
    await folder.watchLedger().expectSound();
  });

  it('arrives in the file unchanged, and creates no other file, remotely or locally', async () => {
    const { folder, service, listRemote } = await prepareFileDay(server(), { bookings: csv });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 10 } });
    expect(service.calls.map(({ path, file }) => [path, parseRecords(file)])).toEqual([
      [
        remotePath,
        bookings.map(({ ServiceId, ...others }) => ({
          'Service Mappings Id': String(ServiceId),
          ...others,
          CheckInDate: '01122026',
          CheckOutDate: '08122026',
        })),
      ],
    ]);
    const names = ['20112026.csv', '20112026_Result.csv'];
    expect(listRemote()).toEqual(names);
    expect(archiveOf(result).names()).toEqual([...names, 'manifest.json']);
    expect(readdirSync(folder.path).sort()).toEqual([
      `bookings-${day}.csv`,
      'data',
      'hotel-review.yaml',
      'tmp',
    ]);
    await folder.watchLedger().expectSound();
  });
});
