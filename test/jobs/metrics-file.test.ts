import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DayFolder } from '../support/day-folder.js';
import { expectError } from '../support/expectations.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import { startProgram } from '../support/program.js';
import { command } from '../support/sandbox-command.js';
import { name, prepare, readSamples, run, runArguments, yesterday } from './measured-run.js';

const down: StandInHandler = () => ({ kind: 'text', status: 403, body: '' });

async function listParts(folder: DayFolder): Promise<readonly string[]> {
  return (await readdir(folder.path)).filter((file) => file.includes('.prom'));
}

describe('run --metrics-file', () => {
  it('writes what the ledger says and how the run ended, for everybody to read', async () => {
    const { folder } = await prepare();
    const before = Date.now() / 1000;
    expect((await run(folder)).exitCode).toBe(0);
    const samples = await readSamples(folder);
    expect(samples.get('last_run_exit_code')).toBe(0);
    expect(samples.get('last_run_timestamp_seconds')).toBeGreaterThan(before);
    expect(samples.get('last_run_duration_seconds')).toBeGreaterThan(0);
    expect(samples.get('ledger_up')).toBe(1);
    expect(samples.get('last_good_day_timestamp_seconds')).toBe(
      yesterday.next().firstInstant.getTime() / 1000,
    );
    expect(samples.get('day_states{state="good"}')).toBe(1);
    expect(samples.get('latest_day_bookings{state="delivered"}')).toBe(120);
    expect(samples.get('latest_day_provider_bookings{provider="Beds \\"R\\" Us\\\\n"}')).toBe(60);
    expect(samples.get('mapping_cases{state="open"}')).toBe(0);
    expect(samples.get('oldest_guest_name_age_days{place="ledger"}')).toBe(0);
    // By body, verdicts come by e-mail only.
    expect([...samples.keys()].join()).not.toMatch(/(?:affected|unanswered)_bookings/);
    expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o644);
    expect(await listParts(folder)).toEqual([name]);
  });

  it('replaces it after each run: one that failed, and the one that resumed it', async () => {
    let answer = down;
    const { folder } = await prepare((request, number) => answer(request, number));
    expect((await run(folder)).exitCode).toBe(1);
    const failed = await readSamples(folder);
    expect(failed.get('last_run_exit_code')).toBe(1);
    expect(failed.get('day_states{state="failed"}')).toBe(1);
    expect(failed.get('latest_day_bookings{state="pending"}')).toBe(120);
    expect(failed.has('last_good_day_timestamp_seconds')).toBe(false);
    answer = () => success;
    expect((await run(folder)).exitCode).toBe(0);
    const resumed = await readSamples(folder);
    expect(resumed.get('last_run_exit_code')).toBe(0);
    expect(resumed.get('day_states{state="failed"}')).toBe(0);
    expect(resumed.get('day_states{state="good"}')).toBe(1);
    expect(resumed.get('latest_day_bookings{state="pending"}')).toBe(0);
    expect(await listParts(folder)).toEqual([name]);
  });

  it('writes it when the run is stopped, too', async () => {
    const { folder, standIn } = await prepare(() => ({ kind: 'hang' }));
    const stopped = folder.call(runArguments);
    await standIn.received(1);
    stopped.stop('SIGTERM');
    const { exitCode } = await stopped.ended;
    expect(exitCode).toBe(1);
    const samples = await readSamples(folder);
    expect(samples.get('last_run_exit_code')).toBe(1);
    expect(samples.get('ledger_up')).toBe(1);
  });

  it('writes it when another process works on the day', async () => {
    const { folder, standIn } = await prepare(() => ({ kind: 'hang' }));
    folder.start(['run', yesterday.iso]);
    await standIn.received(1);
    expectError(await run(folder), { exitCode: 4, class: 'busy', message: /another process/ });
    const samples = await readSamples(folder);
    expect(samples.get('last_run_exit_code')).toBe(4);
    expect(samples.get('day_states{state="delivering"}')).toBe(1);
  });

  it('says only how it ended if nothing can be read, and that no ledger answers if there is none', async () => {
    const { folder } = await prepare();
    await folder.run(['run', '9999-01-01', '--metrics-file', name]);
    expect((await readSamples(folder)).get('last_run_exit_code')).toBe(2);
    expect((await readSamples(folder)).get('ledger_up')).toBe(0);
    await writeFile(folder.configurationFile, 'service: 7\n');
    expect((await run(folder)).exitCode).toBe(2);
    const samples = await readSamples(folder);
    expect([...samples.keys()].every((key) => key.startsWith('last_run_'))).toBe(true);
    expect(samples.get('last_run_exit_code')).toBe(2);
  });

  it('warns if it cannot write, and the run ends as it would have ended', async () => {
    const { folder } = await prepare();
    await mkdir(join(folder.path, 'a-folder'));
    await symlink('/dev/null', join(folder.path, 'a-link'));
    for (const [place, code] of [
      ['nowhere/x.prom', 'ENOENT'],
      ['a-folder', 'EEXIST'],
      ['a-link', 'EEXIST'],
    ] as const) {
      const { exitCode, stderr, report } = await folder.run([
        ...['run', yesterday.iso, '--json'],
        ...['--metrics-file', place],
      ]);
      expect({ exitCode, state: report.state }).toEqual({ exitCode: 0, state: 'succeeded' });
      expect(stderr).toContain(`warning: --metrics-file: ${place} can't be written (${code})\n`);
    }
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
    expect((await readdir(folder.path)).filter((file) => file.endsWith('.part'))).toEqual([]);
  });

  it('is refused for a dry run', async () => {
    const { folder } = await prepare();
    expectError(await folder.run([...runArguments, '--dry-run']), {
      ...{ exitCode: 2, class: 'usage' },
      message: /--dry-run/,
    });
    expect(await listParts(folder)).toEqual([]);
  });

  it('can be read by others whatever the umask', async () => {
    const { folder } = await prepare();
    const { ended } = startProgram(
      'sh',
      ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, command, ...runArguments],
      { cwd: folder.path, env: { PATH: process.env.PATH, TMPDIR: folder.temporaryFolder } },
    );
    expect((await ended).exitCode).toBe(0);
    expect((await stat(join(folder.path, name))).mode & 0o777).toBe(0o644);
  });
});
