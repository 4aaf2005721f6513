import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startCommand } from '../support/command.js';
import { readEmails } from '../support/email.js';
import { listFiles } from '../support/leaks.js';
import type { RunningProgram } from '../support/program.js';
import { isListening } from '../support/sandbox-command.js';
import { createFirstRunPlace, type FirstRunPlace, readPorts } from './started-first-run.js';

let place: FirstRunPlace;
beforeEach(() => {
  place = createFirstRunPlace();
  onTestFinished(() => place.remove());
});

function start(...options: readonly string[]): RunningProgram {
  const program = place.start(...options);
  onTestFinished(() => program.kill('SIGKILL'));
  return program;
}

/** Runs a printed command without npx. */
function run(command: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'first-run-test-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  return startCommand(command.split(' '), { cwd, env: { PATH: process.env.PATH } }).ended;
}

const sent = /^(\S+): ([\d,]+) bookings sent for review/gm;

async function expectNothingLeft(folder: string, ...others: readonly number[]): Promise<void> {
  const ports = [...readPorts(folder), ...others];
  for (const port of ports) expect(await isListening(port)).toBe(false);
}

describe('npm start', () => {
  it('reviews a day by body and one by file, shows what came back, and prints commands that work', async () => {
    const { exitCode, stdout, stderr } = await start().ended;
    expect(exitCode).toBe(0);
    const [folder = ''] = place.folders();
    const sandbox = `--config ${join(folder, 'sandbox.yaml')}`;
    const days = [...stdout.matchAll(sent)].map(([, day = '']) => day);
    const [byBody = '', byFile = ''] = days;
    expect(Date.parse(byFile) - Date.parse(byBody)).toBe(86_400_000);
    for (const [day, kind] of [
      [byBody, 'body'],
      [byFile, 'file'],
    ])
      expect(stderr).toMatch(new RegExp(`^${day}: starting run \\S+ by ${kind}$`, 'm'));

    const [year, month, monthDay] = byFile.split('-');
    const reviewed = `VerifyMappings/${month}${year}/${monthDay}${month}${year}`;
    const rows: Record<string, string>[] = parse(
      readFileSync(join(folder, 'sftp', `${reviewed}_Result.csv`), 'utf8'),
      { columns: true },
    );
    const wrong = rows.filter(({ IsCorrectMapping }) => IsCorrectMapping === 'False');
    expect(wrong.length).toBeGreaterThan(0);
    const words = stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain(`${wrong.length} bookings would bring the guest to another hotel.`);
    const [, urgent = ''] = /The most urgent one: booking (\S+), check-in /.exec(words) ?? [];
    expect(wrong.map(({ BookingReferenceId }) => BookingReferenceId)).toContain(urgent);
    const [, mail = ''] = /verdicts import (\S+)/.exec(stdout) ?? [];
    const email = readEmails(join(folder, 'outbox', 'new')).find(({ path }) => path === mail);
    expect(email?.references.length).toBeGreaterThan(0);
    expect(email?.about).not.toBe(`${reviewed}.csv`);

    // Others have a placeholder.
    const printed = [...stdout.matchAll(/^ {2}npx --no hotel-review ((?!.* FILE ).+ --config .+)$/gm)];
    const commands = printed.map(([, command = '']) => command);
    const names = ['case', 'affected', 'verdicts', 'status', 'verify'];
    expect(commands.map((command) => command.split(' ')[0])).toEqual(names);
    const [status, ...ended] = await Promise.all([`status --json ${sandbox}`, ...commands].map(run));
    expect(ended.map((one) => one.exitCode)).toEqual(Array(5).fill(0));
    expect(ended.at(-1)?.stdout).not.toContain('DIFFERS');
    const delivered = [...stdout.matchAll(sent)].map(([, , count = '']) => Number(count.replace(',', '')));
    expect(status).toMatchObject({
      exitCode: 0,
      json: {
        runs: delivered.toReversed().map((count) => ({
          counts: { read: 10_000, accepted: count, delivered: count, pending: 0 },
        })),
      },
    });

    for (const control of ['\x1b', '\r']) expect(stdout + stderr).not.toContain(control);
    expect((stdout + stderr).split('\n').length).toBeLessThanOrEqual(60);
    // Nothing is left running, and nobody else reads what may hold names.
    await expectNothingLeft(folder);
    const readable = listFiles(join(folder, 'data')).filter((path) => (statSync(path).mode & 0o077) !== 0);
    expect(readable.filter((path) => !path.endsWith('.lock'))).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('stays with --stay, serving its desk, until Ctrl-C', async () => {
    const program = start('--stay');
    const address = /^Serving on (http:\/\/127\.0\.0\.1:\d+)/m;
    await program.until(({ stdout }) => address.test(stdout));
    const [, url = ''] = address.exec(program.stdout) ?? [];
    const [, password = ''] = /; the password of each is (\S+)$/m.exec(program.stdout) ?? [];
    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ name: 'operator', password }),
    });
    expect(signedIn.status).toBe(303);
    const [cookie = ''] = signedIn.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    const days = [...program.stdout.matchAll(sent)].map(([, day]) => `${url}/days/${day}`);
    expect(days).toHaveLength(2);
    for (const day of days) expect((await fetch(day, { headers: { cookie } })).status).toBe(200);
    const [folder = ''] = place.folders();
    for (const port of readPorts(folder)) expect(await isListening(port)).toBe(true);
    program.kill('SIGINT');
    expect((await program.ended).exitCode).toBe(0);
    await expectNothingLeft(folder, Number(new URL(url).port));
  });

  it('stops on SIGTERM in the middle of a day, with the sandbox, and says how to start over', async () => {
    const program = start();
    await program.until(({ stderr }) => stderr.includes('write: done'));
    program.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await program.ended;
    // It ended by itself: stopped, or without the result.
    expect([1, 3]).toContain(exitCode);
    expect(stdout).toMatch(/\nStopped, and the sandbox with it[\s\S]*\n {2}npm start\n/);
    expect(stdout).not.toContain('What to do next');
    expect(stdout + stderr).not.toMatch(/^ {4}at |Error\b/m);
    const [folder = ''] = place.folders();
    await expectNothingLeft(folder);
    const wrong = await start('--sty').ended;
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      'npm start takes no argument but --stay: npm start -- --stay\n',
    ]);
    expect(place.folders()).toEqual([folder]);
  });
});
