import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { createExportFolder } from '../checks/setup/export-folder.js';
import { isAvailable, needs, runAtTerminal, type Typing } from '../support/pseudo-terminal.js';

const command = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));
const env = { PATH: process.env.PATH, TZ: 'Asia/Tokyo', NO_COLOR: '1' };

describe.skipIf(!isAvailable)(`init at a terminal (needs ${needs})`, () => {
  const enter = (after: string, text = ''): Typing => ({ after, type: `${text}\r` });

  it('asks for what it cannot find, in at most 80 columns and without colours if NO_COLOR says so', async () => {
    const export_ = Buffer.from('hotel_id,arrival,guest\n7,21/12/2026,Jörg Weiß\n', 'latin1');
    const folder = await createExportFolder({
      'exports/b-2026-11-20.csv': export_,
      'exports/b-2026-11-19.csv': export_,
      'note.txt': '',
    });
    const { screen, piped, exitCode } = await runAtTerminal(
      [command, 'init'],
      [
        enter('Which file', 'c-2026-11-20.csv'),
        enter('expected the path of a file', '2'),
        enter('time zone', 'Mars'),
        enter('expected a time zone', 'Europe/Madrid'),
        enter('reach the service', '2'),
        enter('reads its names right'),
      ],
      { cwd: folder, env, pipesOutput: true },
    );
    expect({ exitCode, piped }).toEqual({
      exitCode: 0,
      piped: expect.stringMatching(/^Wrote hotel-review\.yaml and \.env\.\n\nNext:\n/),
    });
    expect(await loadConfig({ file: join(folder, 'hotel-review.yaml'), env: {} })).toMatchObject({
      ...{ timezone: 'Europe/Madrid', delivery: 'file' },
      source: {
        ...{ path: join(folder, 'exports/b-{day}.csv'), encoding: 'windows-1252', dateFormat: 'dd/MM/yyyy' },
        columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
      },
    });
    expect(screen).toContain('exports/b-2026-11-19.csv: 3 of the 7 fields');
    expect(screen).not.toContain('Jörg');
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
      [{ after: 'Which file', type: '\x03' }],
      { cwd: folder, env },
    );
    expect(exitCode).toBe(1);
    expect(screen).toContain('hotel-review: stopped by SIGINT');
    expect(await readdir(folder)).toEqual([]);
  });
});
