import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const hotelsLost = (count: number, all = 40) =>
  toCsv(makeBookings(all).map((one, index) => (index < count ? { ...one, ProviderHotelId: ' ' } : one)));

describe('an export whose column was renamed', () => {
  const renamed = csvOf(3).replace('ProviderHotelId', 'SupplierCode');

  it('fails before anything is sent, and passes once the configuration says that there is none', async () => {
    const { standIn, folder } = await prepareDay({ bookings: renamed });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error).toEqual({
      class: 'data',
      message: `the column "ProviderHotelId" is not in the header of ${folder.bookingsFile}, which has "ServiceId", "BookingReferenceId", "BookingClientName", "ProviderName", "SupplierCode", "CheckInDate", "CheckOutDate". Set its name in source.columns, or say that the source has none with source.columns: { ProviderHotelId: false }`,
    });
    expect(standIn.connections).toBe(0);
    const doctor = await folder.run(['doctor', '--day', day]);
    expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain('source.columns: { ProviderHotelId: false }');

    await folder.configure({ source: { columns: { ProviderHotelId: false } } });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 3 } });
    expectEachOnce(
      standIn,
      makeBookings(3).map(({ ProviderHotelId: _, ...sent }) => sent),
    );
  });
});

describe('an export with a blank column', () => {
  it('fails before anything is sent if too many bookings lack the hotel id of their provider', async () => {
    const { standIn, folder } = await prepareDay({ bookings: hotelsLost(21) });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error).toEqual({
      class: 'data',
      message: expect.stringMatching(
        /^21 of 40 bookings of .* lack ProviderHotelId \(21\), more than maxIncompleteShare allows \(50%\); nothing was sent\. .*source\.columns: \{ ProviderHotelId: false \}/,
      ),
    });
    expect(standIn.connections).toBe(0);

    await folder.configure({ maxIncompleteShare: 0.6 });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 40 } });
  });

  it.each([
    ['half of the bookings', hotelsLost(20), {}],
    ['all of a few', hotelsLost(19, 19), {}],
    ['all, but the configuration says so', hotelsLost(40), { columns: { ProviderHotelId: false } }],
  ])('is sent if it lacks %s', async (_, bookings, source) => {
    const { folder } = await prepareDay({ bookings, settings: { source } });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
  });

  it('tops up a day, whatever it lacks', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(1) });
    await folder.runDay();
    await folder.writeBookings(hotelsLost(40));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late).toMatchObject({ exitCode: 0, report: { state: 'succeeded', counts: { delivered: 40 } } });
  });
});

describe('a file that may have empty cells', () => {
  const server = useSftpServer(sandboxSftp);

  it('is not written either if its providers were lost', async () => {
    const bookings = makeBookings(30).map((one) => ({ ...one, ProviderName: '' }));
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings: { file: { incomplete: 'leave-empty' } },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error?.message).toMatch(/30 of 30 .* lack ProviderName \(30\)/);
  });
});
