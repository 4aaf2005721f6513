import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { madeDay, textOf } from '../sandbox/made-days.js';
import { patienceMs } from '../support/patience.js';
import { command, createFolder, runIn } from '../support/sandbox-command.js';

const bookings = ['sandbox', 'bookings', '--day', '2026-11-20'];

describe('hotel-review sandbox bookings', () => {
  it('writes a day to a file, and the same rows to standard output', async () => {
    const folder = await createFolder();
    const made = await runIn(folder, ...bookings, '--count', '200', '--out', 'day.csv', '--json');
    expect(made).toMatchObject({ exitCode: 0, stderr: '', json: { records: 200, out: 'day.csv' } });
    const { exitCode, stdout } = await runIn(folder, ...bookings, '--count', '200');
    expect(exitCode).toBe(0);
    expect(stdout).toBe(await readFile(join(folder, 'day.csv'), 'utf8'));
  });

  it('exits with 2 when --out exists, and changes nothing', async () => {
    const folder = await createFolder();
    await writeFile(join(folder, 'day.csv'), 'mine');
    const { exitCode, json, stderr } = await runIn(folder, ...bookings, '--out', 'day.csv', '--json');
    expect(exitCode).toBe(2);
    const message = '--out: day.csv already exists; choose a new name';
    expect(json).toEqual({ error: { class: 'usage', message } });
    expect(stderr).toBe(`hotel-review: ${message}\n`);
    expect(await readdir(folder)).toEqual(['day.csv']);
    expect(await readFile(join(folder, 'day.csv'), 'utf8')).toBe('mine');
  });

  it('exits with 0 and prints nothing when head has read enough', async () => {
    const folder = await createFolder();
    // The shell records the exit code of the left side of the pipe.
    const script = '{ "$0" "$@"; echo "$?" > exit-code; } | head -1';
    const args = ['-c', script, process.execPath, command, ...bookings, '--count', '2000000'];
    const { status, stdout, stderr } = spawnSync('sh', args, { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^ServiceId,BookingReferenceId,[^\n]+\n$/);
    expect(await readFile(join(folder, 'exit-code'), 'utf8')).toBe('0\n');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s while nobody reads its rows', async (signal) => {
    const args = [command, ...bookings, '--count', '5000000'];
    const child = spawn(process.execPath, args, { cwd: await createFolder() });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    await once(child.stdout, 'data');
    child.stdout.pause();
    const stderr = text(child.stderr);
    child.kill(signal);
    await once(child, 'exit');
    // Only what is left in the pipe follows.
    child.stdout.resume();
    expect(child.exitCode).toBe(1);
    expect(await stderr).toContain(`stopped by ${signal}`);
  });

  it('writes the rows to standard output and a summary to standard error', async () => {
    const { exitCode, stdout, stderr } = await make('--count', '300');
    const day = await textOf(madeDay({ count: 300 }), 'csv');
    expect(exitCode).toBe(0);
    expect(stdout).toBe(day.text);
    expect(stderr).toContain('a made-up day of 300 records for 2026-11-20');
    expect(stderr).toMatch(new RegExp(`  bookings +${day.counts.bookings}\n`));
    expect(stderr).toMatch(new RegExp(`  wrong mappings +${day.counts.wrongMappings}\n`));
    expect(stderr).toContain(day.counts.wrongReferences[0]);
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const guests = stdout
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[2] ?? '');
    for (const guest of guests.filter((name) => name.length > 4)) expect(stderr).not.toContain(guest);
  });

  it('prints the summary of a file to standard output, with --json as one JSON object', async () => {
    const folder = await createFolder();
    const day = await textOf(madeDay({ count: 300 }), 'ndjson');
    const out = join(folder, 'day.ndjson.gz');
    const { exitCode, stdout, stderr } = await make('--count', '300', '--out', out, '--json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      day: '2026-11-20',
      seed: 1,
      format: 'ndjson',
      ...day.counts,
      out,
    });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(gunzipSync(await readFile(out)).toString()).toBe(day.text);
    const said = await make('--count', '300', '--out', join(folder, 'day.csv'));
    expect(said.stdout).toContain(`${folder}/day.csv: a made-up day of 300 records`);
  });

  it('prefers --format to the extension of the name', async () => {
    const folder = await createFolder();
    const day = await textOf(madeDay({ count: 300 }), 'ndjson');
    for (const name of ['day.csv', 'day', 'day.jsonl']) {
      await make('--count', '300', '--out', join(folder, name), '--format', 'ndjson');
      expect(await readFile(join(folder, name), 'utf8')).toBe(day.text);
    }
  });

  it('uses the requested number of hotels and share of wrong mappings', async () => {
    const otherWorld = await make('--count', '300', '--hotels', '30');
    expect(otherWorld.stdout).not.toBe((await make('--count', '300')).stdout);
    const faultless = await make('--count', '300', '--wrong-share', '0');
    expect(faultless.stderr).toMatch(/wrong mappings +0\n/);
  });

  it.each([
    { what: 'a name that says no format', out: 'day.txt', complaint: 'or give --format' },
    { what: 'a folder that is not there', out: 'nowhere/day.csv', complaint: 'ENOENT' },
    { what: 'a file as a folder', out: 'there.csv/day.csv', complaint: 'ENOTDIR' },
  ])('refuses $what and leaves everything as it was', async ({ out, complaint }) => {
    const folder = await createFolder();
    await writeFile(join(folder, 'there.csv'), 'mine');
    const { exitCode, stderr } = await make('--out', join(folder, out));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(complaint);
    expect(stderr).toContain(join(folder, out));
    expect(await readdir(folder)).toEqual(['there.csv']);
    expect(await readFile(join(folder, 'there.csv'), 'utf8')).toBe('mine');
  });

  it.each([
    ['--day', '2026-13-01'],
    ['--count', '-5'],
    ['--wrong-share', '2'],
    ['--new-versions', '-1'],
    ['--folder', 'made'],
    ['--json', '--count', '1'],
  ])('refuses %s %s', async (...options) => {
    expect(await make(...options)).toMatchObject({ exitCode: 2 });
  });

  it('leaves nothing in the folder when a signal stops it', async () => {
    const folder = await createFolder();
    const args = [command, ...bookings, '--count', '50000000', '--out', 'day.csv'];
    const child = spawn(process.execPath, args, { cwd: folder });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const hasBytes = async () => {
      const [name] = await readdir(folder);
      return name !== undefined && (await stat(join(folder, name))).size > 0;
    };
    await vi.waitUntil(hasBytes, { timeout: patienceMs });
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(child.exitCode).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});

/** Calls it in a folder of its own. */
async function make(...options: readonly string[]) {
  return runIn(await createFolder(), ...bookings, ...options);
}
