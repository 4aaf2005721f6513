import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DayToMake, makeBookings } from '../../jobs/make-bookings.js';
import { createTerminal } from '../../jobs/terminal.js';
import { createReports } from '../../src/text/reports.js';
import { UsageError } from '../../src/text/usage-error.js';
import { captureIo } from '../support/command-io.js';
import { compiled } from '../support/compiled.js';
import { patienceMs } from '../support/patience.js';
import { madeDay, textOf } from './made-days.js';

const options: DayToMake = {
  day: '2026-11-20',
  count: 300,
  seed: 1,
  hotels: 2_000,
  wrongShare: 0.02,
  newVersions: 0,
};

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function make(changes: Partial<DayToMake>, { json = false } = {}) {
  const { io, stdout, stderr } = captureIo();
  const terminal = createTerminal({
    reports: createReports(io.stdout, json),
    config: 'hotel-review.yaml',
    io,
  });
  const exitCode = await makeBookings({ ...options, ...changes }, terminal);
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs as a process, to test its standard output and signals. */
function startJob(changes: Partial<DayToMake>) {
  const script = `
    import { makeBookings } from '${compiled}jobs/make-bookings.js';
    import { createTerminal } from '${compiled}jobs/terminal.js';
    import { createReports } from '${compiled}src/cli/reports.js';
    import { runAsProcess } from '${compiled}jobs/process.js';
    await runAsProcess(async (io) => {
      const terminal = createTerminal({ reports: createReports(process.stdout, false), io });
      try {
        return await makeBookings(${JSON.stringify({ ...options, ...changes })}, terminal);
      } catch (error) {
        process.stderr.write(error.message);
        return 1;
      }
    });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    child,
    ended: once(child, 'close').then(([exitCode]) => ({ exitCode: Number(exitCode), stderr })),
  };
}

describe('making bookings', () => {
  it('writes the rows to standard output and a summary to standard error', async () => {
    const { exitCode, stdout, stderr } = await make({});
    const { text, counts } = await textOf(madeDay({ count: 300 }), 'csv');
    expect(exitCode).toBe(0);
    expect(stdout).toBe(text);
    expect(stderr).toContain('a made-up day of 300 records for 2026-11-20');
    expect(stderr).toMatch(new RegExp(`  bookings +${counts.bookings}\n`));
    expect(stderr).toMatch(new RegExp(`  wrong mappings +${counts.wrongMappings}\n`));
    expect(stderr).toContain(counts.wrongReferences[0]);
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('keeps standard output for the rows, even with --json', async () => {
    const { stdout } = await make({ format: 'ndjson' }, { json: true });
    expect(stdout).toBe((await textOf(madeDay({ count: 300 }), 'ndjson')).text);
  });

  it('prints the summary of a file to standard output, with --json as one JSON object', async () => {
    const folder = await createFolder();
    const { text, counts } = await textOf(madeDay({ count: 300 }), 'ndjson');
    const out = join(folder, 'day.ndjson.gz');
    const { exitCode, stdout, stderr } = await make({ out }, { json: true });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      day: '2026-11-20',
      seed: 1,
      format: 'ndjson',
      ...counts,
      out,
    });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
    expect(gunzipSync(await readFile(out)).toString()).toBe(text);
    const said = await make({ out: join(folder, 'day.csv') });
    expect(said.stdout).toContain(`${folder}/day.csv: a made-up day of 300 records`);
  });

  it('prefers --format to the extension of the name', async () => {
    const folder = await createFolder();
    const { text } = await textOf(madeDay({ count: 300 }), 'ndjson');
    for (const name of ['day.csv', 'day', 'day.jsonl']) {
      await make({ out: join(folder, name), format: 'ndjson' });
      expect(await readFile(join(folder, name), 'utf8')).toBe(text);
    }
  });

  it('uses the requested number of hotels and share of wrong mappings', async () => {
    const otherWorld = await make({ hotels: 30 });
    expect(otherWorld.stdout).not.toBe((await make({})).stdout);
    expect((await make({ wrongShare: 0 })).stderr).toMatch(/wrong mappings +0\n/);
  });

  it('names no guest in its summary', async () => {
    const { stdout, stderr } = await make({});
    const guests = stdout
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[2] ?? '');
    for (const guest of guests.filter((name) => name.length > 4)) expect(stderr).not.toContain(guest);
  });

  it.each([
    { what: 'a name that says no format', out: 'day.txt', complaint: 'or give --format' },
    { what: 'a folder that is not there', out: 'nowhere/day.csv', complaint: 'ENOENT' },
    { what: 'a file as a folder', out: 'there.csv/day.csv', complaint: 'ENOTDIR' },
    { what: 'a file that is there', out: 'there.csv', complaint: 'already exists; choose a new name' },
  ])('refuses $what and leaves everything as it was', async ({ out, complaint }) => {
    const folder = await createFolder();
    await writeFile(join(folder, 'there.csv'), 'mine');
    const failure = await make({ out: join(folder, out) }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect(String(failure)).toContain(complaint);
    expect(String(failure)).toContain(join(folder, out));
    expect(await readdir(folder)).toEqual(['there.csv']);
    expect(await readFile(join(folder, 'there.csv'), 'utf8')).toBe('mine');
  });

  it.each([{ day: '2026-13-01' }, { count: -5 }, { wrongShare: 2 }, { newVersions: -1 }])(
    'refuses %j',
    async (changes) => {
      await expect(make(changes)).rejects.toThrow(UsageError);
    },
  );

  it('exits with 0 and prints nothing when its reader has read enough', async () => {
    const { child, ended } = startJob({ count: 5_000_000 });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended).toEqual({ exitCode: 0, stderr: '' });
  });

  it('leaves nothing in the folder when a signal stops it', async () => {
    const folder = await createFolder();
    const { child, ended } = startJob({ count: 50_000_000, out: join(folder, 'day.csv') });
    const hasBytes = async () => {
      const [name] = await readdir(folder);
      return name !== undefined && (await stat(join(folder, name))).size > 0;
    };
    await vi.waitUntil(hasBytes, { timeout: patienceMs });
    child.kill('SIGINT');
    expect((await ended).exitCode).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});
