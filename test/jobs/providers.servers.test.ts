import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { refusal, success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const range = ['--from', '2026-11-18', '--to', '2026-11-21'];

describe('providers', () => {
  it('compares the providers of a day by file, with late bookings, as text, JSON and CSV', async () => {
    const bookings = makeBookings(60);
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv(bookings.slice(0, 50)),
      async onCall(call) {
        await call.writeResult({ affected: ['BR-1', 'BR-2', 'BR-3', 'BR-59'] });
        return success;
      },
    });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 3 } });
    await folder.writeBookings(toCsv(bookings));
    expect((await folder.run(['replay', day, '--late', '--json'])).exitCode).toBe(0);
    const { exitCode, json } = await folder.run(['providers', ...range, '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      from: '2026-11-18',
      to: '2026-11-21',
      providers: [
        { providerName: 'Expedia', sent: 30, known: 30, affected: 3, affectedShare: 0.1, byEmail: 0 },
        { providerName: 'Hotelbeds', sent: 30, known: 30, affected: 1, affectedShare: 0.033333 },
      ],
    });
    const words = (await folder.run(['providers', ...range, '--csv', 'providers.csv'])).stdout;
    expect(words).toMatch(/Expedia +30 +30 +3 +10\.00 \(3\.46 to 25\.62\)/);
    const cells = parse(await readFile(join(folder.path, 'providers.csv')), { columns: true, bom: true });
    expect(cells).toMatchObject([{ providerName: 'Expedia', affected: '3' }, { providerName: 'Hotelbeds' }]);
  });

  it('says of a day by body that verdicts come by e-mail, and counts only what was delivered', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(40) }, async (request) => {
      const hotels = await request.readHotels();
      return hotels.some(({ BookingReferenceId }) => BookingReferenceId === 'BR-7') ? refusal(2009) : success;
    });
    await folder.runDay();
    const { json, stdout } = await folder.run(['providers', ...range, '--json']);
    expect(json).toMatchObject({
      providers: [
        { providerName: 'Hotelbeds', sent: 20, known: 0, affected: null, affectedShare: null, byEmail: 20 },
        { providerName: 'Expedia', sent: 19, known: 0, affected: null, medianHoursToCorrection: null },
      ],
    });
    expect(stdout).not.toMatch(/"affectedShare":0/);
    expect((await folder.run(['providers', ...range])).stdout).toMatch(/Hotelbeds +20 +0 +by e-mail +- /);
    const none = await folder.run(['providers', '--from', '2026-01-01', '--to', '2026-01-05', '--json']);
    expect(none).toMatchObject({ exitCode: 1, json: { providers: [] } });
  });
});
