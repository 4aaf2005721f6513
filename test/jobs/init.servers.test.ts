import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createExportFolder } from '../setup/export-folder.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const env = { PATH: process.env.PATH, TZ: 'Asia/Tokyo' };

const load = (folder: string) => loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} });

describe.skipIf(!isAvailable)(`init at a terminal (needs ${needs})`, () => {
  const init = (
    folder: string,
    typing: readonly Typing[],
    { args = [], ...options }: { args?: string[]; env?: NodeJS.ProcessEnv; pipesOutput?: boolean } = {},
  ) =>
    runAtTerminal([command, 'init', ...args], typing, {
      cwd: folder,
      ...options,
      env: { ...env, ...options.env },
    });
  const enter = (after: string, text = ''): Typing => ({ after, type: `${text}\r` });

  it('asks, and asks again after a wrong path', async () => {
    const folder = await createExportFolder({ 'b-2026-11-20.csv': 'hotel_id,arrival\n7,01/02/2026\n' });
    const { piped, exitCode } = await init(
      folder,
      [
        enter('Where are the bookings'),
        enter("day's bookings", 'c-{day}.csv'),
        enter('What now'),
        enter('Where are the bookings'),
        enter("day's bookings", 'b-{day}.csv'),
        enter('are ambiguous', '1'),
        enter('a usual day', '420'),
        enter('mapping service', 'https://maps.test/api/3.0'),
        enter('SFTP server of the service', 'localhost:54123'),
        enter('user name', 'acme'),
        enter('private key'),
        enter('empty cells'),
      ],
      { pipesOutput: true },
    );
    expect(exitCode).toBe(0);
    expect(piped).toMatch(
      /^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n {2}1\. put HOTEL_REVIEW_API_KEY, HOTEL_REVIEW_ACCOUNT_ID, and HOTEL_REVIEW_SFTP_PASSWORD into \.env\n/,
    );
    expect(await load(folder)).toMatchObject({
      timezone: 'Asia/Tokyo',
      service: { baseUrl: 'https://maps.test/api/3.0' },
      source: { columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' }, dateFormat: 'dd/MM/yyyy' },
      volume: { minimum: 210 },
      file: { sftp: { host: 'localhost', port: 54123, username: 'acme' } },
    });
  });

  it('asks which columns hold what it did not find', async () => {
    const folder = await createExportFolder({ 'b.csv': 'Haus;Gast;Von;Bis\n17;Ada;20.11.2026;22.11.2026\n' });
    const { screen, piped, exitCode } = await init(
      folder,
      [
        enter('(ServiceId)?', '1'),
        enter('(BookingReferenceId)?'),
        enter('(ProviderName)?'),
        enter('(ProviderHotelId)?'),
        enter('(CheckInDate)?', '1'),
        enter('(CheckOutDate)?', '1'),
        enter('a usual day'),
        enter('mapping service', 'https://maps.test/api/3.0'),
      ],
      { args: ['--path', 'b.csv', '--kind', 'csv', '--delivery', 'body'], pipesOutput: true },
    );
    expect(exitCode).toBe(0);
    expect(screen).toContain('b.csv: 1 of the 7 fields found');
    expect(screen).toContain('BookingClientName: "Gast"');
    expect(piped).not.toContain('say in');
    expect(await load(folder)).toMatchObject({
      source: {
        columns: { ServiceId: 'Haus', BookingClientName: 'Gast', CheckInDate: 'Von', CheckOutDate: 'Bis' },
        dateFormat: 'dd.MM.yyyy',
      },
    });
  });

  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('writes nothing after %s', async (_, key) => {
    const folder = await createExportFolder();
    const { screen, exitCode } = await init(folder, [{ after: 'Where are the bookings', type: key }]);
    expect(exitCode).toBe(1);
    expect(screen).toContain('hotel-review: stopped by SIGINT');
    expect(await readdir(folder)).toEqual([]);
  });

  it('uses no colours if NO_COLOR says so, and at most 80 columns', async () => {
    const folder = await createExportFolder();
    const { screen, exitCode } = await init(
      folder,
      [
        enter('Where are the bookings'),
        enter("day's bookings", '{date}'),
        { after: 'expected a path', type: '\x03' },
      ],
      { env: { NO_COLOR: '1' } },
    );
    expect(exitCode).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's control sequences begin with one
    expect(screen).not.toMatch(/\x1b\[(?:3[0-8]|4[0-8]|9\d|10\d)[;m]/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's control sequences begin with one
    const lines = screen.replaceAll(/\x1b\[\??[\d;]*[A-Za-z]/g, '\n').split(/\r?\n/);
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it.each([['--yes'], ['--json']])('asks nothing with %s', async (option) => {
    const folder = await createExportFolder();
    const { screen, exitCode } = await init(folder, [], { args: [option] });
    expect(exitCode).toBe(0);
    expect(screen).not.toContain('Where are');
    expect(await readdir(folder)).toEqual(['.env', 'hotel-review.yaml']);
  });
});
