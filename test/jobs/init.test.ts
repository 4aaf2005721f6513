import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createExportFolder } from '../setup/export-folder.js';
import { type CommandResult, callCommand } from '../support/command.js';
import { masterIdOnly } from '../support/source-columns.js';

const env = { PATH: process.env.PATH, TZ: 'Asia/Tokyo' };
const oddExport = [
  'Booking Ref;HOTEL-ID;Lead Guest;Supplier;Supplier Hotel Id;Arrival;Departure;Price',
  'BR-1;17;"Lovelace; Ada";Roomly;R-9;20/11/2026;22/11/2026;99,50',
  'BR-2;18;Grace Hopper;Roomly;R-8;02/12/2026;03/12/2026;12,00',
].join('\n');

const run = (cwd: string, ...args: string[]): Promise<CommandResult> => callCommand(args, { cwd, env }).ended;
const load = (folder: string) => loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });
const readText = (...path: string[]) => readFile(join(...path), 'utf8');

describe('init without a terminal', () => {
  it('writes a valid configuration and a private .env, and says what comes next', async () => {
    const folder = await createExportFolder();
    const { exitCode, stdout, stderr } = await run(folder, 'init');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('warning: no file matches exports/bookings-{day}.csv yet');
    expect(stderr).toContain('verdicts come by e-mail only');
    expect(await load(folder)).toMatchObject({
      timezone: 'Asia/Tokyo',
      service: { apiKey: 'change-me', accountId: 'change-me' },
      source: { kind: 'csv', path: join(folder, 'exports/bookings-{day}.csv') },
      delivery: 'body',
      hook: { secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) },
    });
    expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);
    expect(stdout).toMatch(
      /^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n {2}1\. put HOTEL_REVIEW_API_KEY and HOTEL_REVIEW_ACCOUNT_ID into \.env\n {2}2\. fill in .*\n {2}3\. hotel-review doctor\n {2}4\. hotel-review run --day \d{4}-\d\d-\d\d --dry-run\n$/,
    );
  });

  it('names an existing JSON Schema', async () => {
    const folder = await createExportFolder();
    await run(folder, 'init');
    const [, schema = ''] = /\$schema=(\S+)/.exec(await readText(folder, 'hotel-review.yaml')) ?? [];
    expect(JSON.parse(await readText(folder, schema))).toMatchObject({ title: 'hotel-review.yaml' });
  });

  it('recognises an export with column names of its own, so that a dry run of it works before there is a key', async () => {
    const folder = await createExportFolder({ 'exports/bookings-2026-11-20.csv': oddExport });
    const { json } = await run(folder, 'init', '--yes', '--timezone', 'Europe/Madrid', '--json');
    expect(json).toEqual({
      configuration: join(folder, 'hotel-review.yaml'),
      env: join(folder, '.env'),
      next: expect.arrayContaining(['hotel-review run --day 2026-11-20 --dry-run']),
      source: [expect.objectContaining({ part: 'source', verdict: 'ok' })],
    });
    const text = await readText(folder, 'hotel-review.yaml');
    expect(text).toContain('"Price"');
    expect(text).not.toMatch(/Lovelace|Grace|Roomly|BR-1/);

    const dryRun = await run(folder, 'run', '--day', '2026-11-20', '--dry-run', '--json');
    expect(dryRun).toMatchObject({
      exitCode: 0,
      json: { counts: { read: 2, accepted: 2, rejected: 0 }, warnings: [] },
    });
    expect(dryRun.json).toHaveProperty('sample.0', {
      ServiceId: 17,
      BookingReferenceId: 'BR-1',
      BookingClientName: '***',
      ProviderName: 'Roomly',
      ProviderHotelId: 'R-9',
      CheckInDate: '2026-11-20',
      CheckOutDate: '2026-11-22',
    });
  });

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

  it('recognises a German export with an invalid date and a malformed record', async () => {
    const folder = await createExportFolder({ 'exports/bookings-2026-11-20.csv': germanExport });
    const { json } = await run(folder, 'init', '--yes', '--timezone', 'Europe/Berlin', '--json');
    expect(JSON.stringify(json)).not.toContain('say in');
    const text = await readText(folder, 'hotel-review.yaml');
    expect(text).toContain('  # Reads 399 of the first 400 dates in exports/bookings-2026-11-20.csv.');
    expect(text).not.toMatch(/Müller|Weiß|Süd|BR-|31\.02/);

    const dryRun = await run(folder, 'run', '--day', '2026-11-20', '--dry-run', '--json');
    expect(dryRun).toMatchObject({
      exitCode: 0,
      json: { counts: { read: 201, accepted: 200, rejected: 1 } },
    });
    expect(dryRun.json).toHaveProperty('sample.0', {
      ServiceId: 20,
      BookingReferenceId: 'BR-1',
      BookingClientName: '***',
      ProviderName: 'Süd & Söhne',
      ProviderHotelId: 'R-0',
      CheckInDate: '2026-11-01',
      CheckOutDate: '2026-12-01',
    });
  });

  it('names the columns that it did not find, in the configuration and in the next steps', async () => {
    const folder = await createExportFolder({
      'exports/bookings-2026-11-20.csv': 'Haus;Gast;Von;Bis\n17;Ada;20.11.2026;22.11.2026\n',
    });
    const { stdout } = await run(folder, 'init', '--yes');
    expect(stdout).toMatch(/fill in what hotel-review\.yaml marks as PLACEHOLDER/);
    expect(stdout).toContain('say in hotel-review.yaml which column holds ServiceId');
    expect(stdout).toContain(
      'say in hotel-review.yaml which columns hold BookingReferenceId, ProviderName, ProviderHotelId, CheckInDate, and CheckOutDate: without them they are not sent\n',
    );
    const text = await readText(folder, 'hotel-review.yaml');
    expect(text).toContain('# Unused columns: "Haus", "Von", "Bis".');
    expect(text).toContain(
      '    # ServiceId: …\n    BookingReferenceId: false\n    BookingClientName: Gast\n',
    );
    expect((await load(folder)).source.columns).toEqual({ ...masterIdOnly, BookingClientName: 'Gast' });
  });

  it('does the same with NDJSON whose members are in nested objects', async () => {
    const stay = { period: { arrival: '20.11.2026' }, guest: { name: 'Ada' } };
    const booking = { hotel: { id: 17 }, stay, booking_ref: 'BR-1' };
    const folder = await createExportFolder({ 'b-20112026.ndjson': `${JSON.stringify(booking)}\n` });
    await run(folder, 'init', '--path', 'b-{day:ddMMyyyy}.ndjson');
    const { json } = await run(folder, 'run', '--day', '2026-11-20', '--dry-run', '--json');
    expect(json).toHaveProperty('sample.0', {
      ServiceId: 17,
      BookingReferenceId: 'BR-1',
      BookingClientName: '***',
      CheckInDate: '2026-11-20',
    });
  });

  it('writes the delivery by file as the options describe it', async () => {
    const folder = await createExportFolder();
    const server = ['--sftp-host', 'sftp.test', '--sftp-port', '2222', '--sftp-username', 'acme'];
    await run(folder, 'init', '--base-url', 'https://maps.test/api/3.0', ...server, '--sftp-key-file', 'id');
    expect(await load(folder)).toMatchObject({
      service: { baseUrl: 'https://maps.test/api/3.0' },
      delivery: 'file',
      file: { sftp: { host: 'sftp.test', port: 2222, username: 'acme', privateKeyFile: join(folder, 'id') } },
    });
    expect(await readText(folder, '.env')).not.toContain('SFTP');
  });

  it('creates the folder of another configuration, and names it in the next steps', async () => {
    const folder = await createExportFolder();
    const { stdout } = await run(folder, 'init', '--config', 'conf/staging.yaml');
    expect(await readdir(join(folder, 'conf'))).toEqual(['.env', 'staging.yaml']);
    expect(stdout).toContain('Wrote conf/staging.yaml and conf/.env.');
    expect(stdout).toContain('hotel-review doctor --config conf/staging.yaml');
  });

  it('overwrites no configuration', async () => {
    const folder = await createExportFolder({ 'hotel-review.yaml': 'mine' });
    const { exitCode, stderr } = await run(folder, 'init');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('hotel-review.yaml already exists and is not overwritten; edit it');
    expect(await readdir(folder)).toEqual(['hotel-review.yaml']);
    expect(await readText(folder, 'hotel-review.yaml')).toBe('mine');
  });

  it('keeps an existing .env, says so, and names what is missing from it', async () => {
    const folder = await createExportFolder({ '.env': 'HOTEL_REVIEW_API_KEY=k-1\nOTHER=2\n' });
    const { exitCode, stdout } = await run(folder, 'init');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Wrote hotel-review.yaml; .env already exists and was left unchanged.');
    expect(stdout).toContain('1. put HOTEL_REVIEW_ACCOUNT_ID into .env\n');
    expect(stdout).not.toContain('k-1');
    expect(await readText(folder, '.env')).toBe('HOTEL_REVIEW_API_KEY=k-1\nOTHER=2\n');
  });

  it('asks for placeholders in an existing .env, but not for what the environment has', async () => {
    const folder = await createExportFolder({
      '.env': 'HOTEL_REVIEW_API_KEY=change-me\nHOTEL_REVIEW_ACCOUNT_ID=change-me\n',
    });
    const own = { HOTEL_REVIEW_ACCOUNT_ID: 'a-1' };
    const { stdout } = await callCommand(['init'], { cwd: folder, env: { ...env, ...own } }).ended;
    expect(stdout).toContain('1. put HOTEL_REVIEW_API_KEY into .env\n');
  });

  it.each([
    [['--base-url', 'http://maps.test'], /--base-url: must begin with https:/],
    [['--timezone', 'Mars'], /--timezone: expected a time zone/],
    [['--path', 'b-{date}.csv'], /--path: expected a path/],
    [['--delivery', 'body', '--sftp-host', 'h'], /--sftp-host goes with --delivery file/],
    [['--kind', 'csv', '--query', 'SELECT :day'], /--query goes with --kind sql/],
    [['--url', 'postgres://u:p@h/db'], /--url: others on this machine can read a password there/],
  ])('writes nothing for %j', async (options, message) => {
    const folder = await createExportFolder();
    const { exitCode, stderr } = await run(folder, 'init', ...options);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(await readdir(folder)).toEqual([]);
  });
});
