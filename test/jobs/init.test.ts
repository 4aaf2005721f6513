import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createExportFolder } from '../setup/export-folder.js';
import { startCommand } from '../support/command.js';
import { startStandIn } from '../support/http-stand-in.js';

/** As a program that knows nothing of the service writes it; one date is invalid, one record is malformed. */
const germanExport = [
  'Buchungsnr;Hotel-ID;Gast;Lieferant;Hotel-Code Lieferant;Anreise;Abreise;Preis',
  'BR-0;17;"Unvollständig; Udo"',
  ...Array.from({ length: 199 }, (_, at) => {
    const day = String((at % 28) + 1).padStart(2, '0');
    return `BR-${at + 1};${at + 20};"Müller-Lüdenscheid; Jörg";Süd & Söhne;R-${at};${day}.11.2026;${day}.12.2026;99,50`;
  }),
  'BR-200;16;Weiß, Änne;Süd & Söhne;R-200;31.02.2027;02.03.2027;12,00',
].join('\r\n');

it('what init writes for an export of any form is accepted by doctor, and a dry run understands the day', async () => {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const folder = await createExportFolder({ 'exports/bookings-2026-11-20.csv': germanExport });
  const run = (args: readonly string[], variables: NodeJS.ProcessEnv = {}) =>
    startCommand(args, { cwd: folder, env: { PATH: process.env.PATH, TZ: 'Asia/Tokyo', ...variables } })
      .ended;

  const init = await run(['init', '--yes', '--base-url', standIn.baseUrl]);
  expect({ exitCode: init.exitCode, stdout: init.stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(
      /^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n {2}1\. put HOTEL_REVIEW_API_KEY and HOTEL_REVIEW_ACCOUNT_ID into \.env\n {2}2\. \S+ \S+hotel-review\.js doctor\n {2}3\. .* run --day 2026-11-20 --dry-run\n$/,
    ),
  });
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
  const text = await readFile(join(folder, 'hotel-review.yaml'), 'utf8');
  expect(text).toContain('  # Reads 399 of the first 400 dates in exports/bookings-2026-11-20.csv.');
  for (const said of [text, init.stdout, init.stderr]) expect(said).not.toMatch(/Müller|Weiß|31\.02/);

  // A dry run works before there is a key.
  const dryRun = await run(['run', '--day', '2026-11-20', '--dry-run', '--json']);
  expect(dryRun).toMatchObject({ exitCode: 0, json: { counts: { read: 201, accepted: 200, rejected: 1 } } });
  expect(dryRun.json).toHaveProperty('sample.0', {
    ServiceId: 20,
    BookingReferenceId: 'BR-1',
    BookingClientName: '***',
    ProviderName: 'Süd & Söhne',
    ProviderHotelId: 'R-0',
    CheckInDate: '2026-11-01',
    CheckOutDate: '2026-12-01',
  });
  expect(standIn.connections).toBe(0);

  const doctor = ['doctor', '--day', '2026-11-20'];
  expect(await run(doctor)).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('placeholder') });
  const account = { HOTEL_REVIEW_API_KEY: 'k-1', HOTEL_REVIEW_ACCOUNT_ID: 'a-1' };
  const healthy = await run(doctor, account);
  expect(healthy).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/, 0 wrong\n$/) });
  expect(healthy.stdout).not.toMatch(/Müller|k-1|a-1/);
  expect(standIn.requests.map(({ body }) => body.toString())).toEqual(Array(2).fill('{"Hotels":[]}'));
  expect(await readdir(folder)).toEqual(['.env', 'exports', 'hotel-review.yaml']);

  const again = await run(['init', '--yes']);
  expect(again).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('is not overwritten; edit it'),
  });
  expect(await readFile(join(folder, 'hotel-review.yaml'), 'utf8')).toBe(text);
});
