import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import type { CommandResult } from '../support/command.js';
import { type DayFolder, day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';

const commands = [['run', '--day', day], ['status'], ['status', day], ['show', 'BR-1']] as const;

describe('an unusable ledger ends every command with 2 and says what to fix:', () => {
  const places: Readonly<Record<string, { make: (path: string) => Promise<unknown>; expected: string }>> = {
    'a folder': {
      make: (path) => mkdir(path, { recursive: true }),
      expected: 'expected a file, got: a folder; name a file in it with the setting ledger',
    },
    'a file of another kind': {
      make: async (path) => {
        await mkdir(dirname(path));
        await writeFile(path, csvOf(3));
      },
      expected:
        'expected an SQLite database, got: a file of another kind; name another with the setting ledger',
    },
    'a place under a file': { make: (path) => writeFile(dirname(path), ''), expected: 'got: E' },
    "an earlier version's": {
      make: async (path) => {
        await mkdir(dirname(path));
        const database = openDatabase(path, { busyTimeoutMs: 0 });
        database.exec('CREATE TABLE runs (number INTEGER); PRAGMA user_version = 23');
        database.close();
      },
      expected: 'got: one of an earlier version; finish its runs with that version, then start a new ledger',
    },
  };

  it.each(Object.entries(places))('%s', async (_, { make, expected }) => {
    const { standIn, folder } = await prepareDay({ bookings: csvOf(3) });
    await make(folder.ledgerFile);
    for (const command of commands) {
      const result = await folder.run([...command, '--json']);
      const message = messageOf(result, 'configuration');
      expect(message).toContain(`the ledger ${folder.ledgerFile} cannot be used: expected `);
      expect(message).toContain(expected);
      expect(result.stderr).toBe(`hotel-review: ${message}\n`);
    }
    expect(standIn.connections).toBe(0);
  });
});

describe('before the first run', () => {
  it.each([
    { command: ['status'], report: { runs: [], daysWithoutRun: [] } },
    { command: ['status', day], report: { runs: [] } },
  ])('$command says so with the path, and creates nothing', async ({ command, report }) => {
    const { folder } = await prepareDay({});
    const before = await readdir(folder.path);
    const expected = `There is no ledger at ${folder.ledgerFile} yet.\n`;
    expect(await folder.run(command)).toMatchObject({
      exitCode: 0,
      stdout: `No runs yet. The first one: hotel-review run\n${expected}`,
      stderr: '',
    });
    expect(await folder.run([...command, '--json'])).toMatchObject({
      exitCode: 0,
      stdout: `${JSON.stringify(report)}\n`,
      stderr: expected,
    });
    expect(await readdir(folder.path)).toEqual(before);
  });

  it('show says so with the path, and creates nothing', async () => {
    const { folder } = await prepareDay({});
    const before = await readdir(folder.path);
    const expected = `There is no ledger at ${folder.ledgerFile} yet.\n`;
    expect(await folder.run(['show', 'BR-1'])).toMatchObject({
      exitCode: 1,
      stdout: `BR-1 is in no run of this ledger. What was rejected, and where: hotel-review rejected DAY\n${expected}`,
      stderr: '',
    });
    expect(await folder.run(['show', 'BR-1', '--json'])).toMatchObject({
      exitCode: 1,
      stdout: '{"reference":"BR-1","bookings":[]}\n',
      stderr: expected,
    });
    expect(await readdir(folder.path)).toEqual(before);
  });

  it('a run creates the ledger, which both then read', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(3) });
    await folder.run(['status']);
    expect((await folder.runDay()).exitCode).toBe(0);
    expect((await folder.run(['status'])).stdout).toMatch(/ sent .* by e-mail\n/);
    expect((await folder.run(['show', 'BR-1'])).stdout).toContain('BR-1: delivered');
  });
});

describe('--out', () => {
  const dryRun = (folder: DayFolder, out: string) =>
    folder.run(['run', '--day', day, '--dry-run', '--out', out, '--json']);

  it.each(['out', 'out/bodies'])('that is a file or below one ends with 2: %s', async (name) => {
    const { folder } = await prepareDay({ bookings: csvOf(3) });
    await writeFile(join(folder.path, 'out'), 'of an earlier time');
    const out = join(folder.path, name);
    const message = messageOf(await dryRun(folder, out), 'usage');
    expect(message).toContain(`--out ${out}: expected a folder that can be created and written to, got: E`);
    expect(await readFile(join(folder.path, 'out'), 'utf8')).toBe('of an earlier time');
  });
});

describe('a bucket whose address holds a secret', () => {
  it('is reported with all other problems of the file, with 2, and not shown', async () => {
    const { folder } = await prepareDay({
      settings: { timezone: 'Mars/Olympus', archive: 's3://bucket?secretAccessKey=hush' },
    });
    for (const command of commands) {
      const result = await folder.run([...command, '--json']);
      expect(messageOf(result, 'configuration').split('\n')).toEqual([
        `${folder.configurationFile} cannot be used:`,
        '  timezone: expected a time zone such as Europe/Madrid, got: Mars/Olympus',
        '  archive: expected a folder or s3://…, got: s3://…',
      ]);
    }
  });
});

describe('--delivery file', () => {
  it.each([
    ['run', '--day', day],
    ['run', '--day', day, '--dry-run'],
    ['replay', day],
  ])('ends with 2 when no SFTP server is configured, and creates nothing: %s %s %s', async (...command) => {
    const { standIn, folder } = await prepareDay({ bookings: csvOf(3) });
    const result = await folder.run([...command, '--delivery', 'file', '--json']);
    expect(messageOf(result, 'configuration')).toContain(
      'file.sftp: expected the SFTP server, as --delivery is file, got: nothing',
    );
    expect(standIn.connections).toBe(0);
    await expect(stat(folder.ledgerFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

/** The message in the one JSON object of a command that could not start. */
function messageOf({ exitCode, stdout, json }: CommandResult, kind: string): string {
  expect({ exitCode, json }).toEqual({
    exitCode: 2,
    json: { error: { class: kind, message: expect.any(String) } },
  });
  const { error } = JSON.parse(stdout) as { error: { message: string } };
  return error.message;
}
