import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createExportFolder } from '../setup/export-folder.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const env = { PATH: process.env.PATH, TZ: 'Asia/Tokyo', NO_COLOR: '1' };

describe.skipIf(!isAvailable)(`init at a terminal (needs ${needs})`, () => {
  const enter = (after: string, text = ''): Typing => ({ after, type: `${text}\r` });

  it('asks, and asks again after a wrong path, in at most 80 columns and without colours if NO_COLOR says so', async () => {
    const folder = await createExportFolder({ 'b-2026-11-20.csv': 'hotel_id,arrival\n7,01/02/2026\n' });
    const { screen, piped, exitCode } = await runAtTerminal(
      [command, 'init'],
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
      { cwd: folder, env, pipesOutput: true },
    );
    expect({ exitCode, piped }).toEqual({
      exitCode: 0,
      piped: expect.stringMatching(/^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n/),
    });
    expect(await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} })).toMatchObject({
      timezone: 'Asia/Tokyo',
      service: { baseUrl: 'https://maps.test/api/3.0' },
      source: { columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' }, dateFormat: 'dd/MM/yyyy' },
      volume: { minimum: 210 },
      file: { sftp: { host: 'localhost', port: 54123, username: 'acme' } },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's control sequences begin with one
    expect(screen).not.toMatch(/\x1b\[(?:3[0-8]|4[0-8]|9\d|10\d)[;m]/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's control sequences begin with one
    const lines = screen.replaceAll(/\x1b\[\??[\d;]*[A-Za-z]/g, '\n').split(/\r?\n/);
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it('writes nothing after Ctrl-C', async () => {
    const folder = await createExportFolder();
    const { screen, exitCode } = await runAtTerminal(
      [command, 'init'],
      [{ after: 'Where are the bookings', type: '\x03' }],
      { cwd: folder, env },
    );
    expect(exitCode).toBe(1);
    expect(screen).toContain('hotel-review: stopped by SIGINT');
    expect(await readdir(folder)).toEqual([]);
  });
});
