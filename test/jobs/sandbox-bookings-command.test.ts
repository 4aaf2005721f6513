import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
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
});
