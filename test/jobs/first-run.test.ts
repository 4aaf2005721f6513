import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { callCommand } from '../support/command.js';
import { listFiles } from '../support/leaks.js';
import { type RunningProgram, startProgram } from '../support/program.js';
import { isListening } from '../support/sandbox-command.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
/** The arguments that `npm start` gives to Node. */
const [, ...words] = (scripts.start as string).split(' ');

let parent = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'first-run-test-'));
  mkdirSync(join(parent, 'tmp'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
});

/** @param options as after `npm start --` */
function start(...options: readonly string[]): RunningProgram {
  const env = { PATH: process.env.PATH, TMPDIR: join(parent, 'tmp'), npm_command: 'start' };
  const program = startProgram(process.execPath, [...words, ...options], { cwd: project, env });
  onTestFinished(() => program.kill('SIGKILL'));
  return program;
}

/** The only folder that was made. */
function findFolder(): string {
  const names = readdirSync(join(parent, 'tmp'));
  expect(names).toHaveLength(1);
  return join(parent, 'tmp', names[0] ?? '');
}

/** Calls a printed command. */
const run = (command: string) =>
  callCommand(command.split(' '), { cwd: parent, env: { PATH: process.env.PATH } }).ended;

const sent = /^(\S+): ([\d,]+) bookings sent for review/gm;

/** Whether the service and the SFTP server of the sandbox that wrote its configuration there listen. */
function areListening(folder: string): Promise<boolean[]> {
  const { service, file } = parseYaml(readFileSync(join(folder, 'sandbox.yaml'), 'utf8'));
  return Promise.all(
    [new URL(service.baseUrl).port, file.sftp.port].map((port) => isListening(Number(port))),
  );
}

describe('npm start', () => {
  it('reviews a day by body and one by file, shows what came back, and prints commands that work', async () => {
    const { exitCode, stdout, stderr } = await start().ended;
    expect(exitCode).toBe(0);
    const folder = findFolder();
    const [byBody = '', byFile = ''] = [...stdout.matchAll(sent)].map(([, day = '']) => day);
    expect(stderr).toMatch(new RegExp(`^${byBody}: starting run \\S+ by body$`, 'm'));
    expect(stderr).toMatch(new RegExp(`^${byFile}: starting run \\S+ by file$`, 'm'));

    // Others have a placeholder.
    const printed = [...stdout.matchAll(/^ {2}npx --no hotel-review ((?!.* FILE ).+ --config .+)$/gm)];
    const commands = printed.map(([, command = '']) => command);
    const names = ['case', 'affected', 'verdicts', 'status', 'verify'];
    expect(commands.map((command) => command.split(' ')[0])).toEqual(names);
    const status = `status --json --config ${join(folder, 'sandbox.yaml')}`;
    const [shown, ...ended] = await Promise.all([status, ...commands].map(run));
    expect(ended.map((one) => one.exitCode)).toEqual(Array(5).fill(0));
    expect(ended.at(-1)?.stdout).not.toContain('DIFFERS');
    const delivered = [...stdout.matchAll(sent)].map(([, , count = '']) => Number(count.replace(',', '')));
    expect(shown).toMatchObject({
      exitCode: 0,
      json: { runs: delivered.toReversed().map((count) => ({ counts: { delivered: count, pending: 0 } })) },
    });

    for (const control of ['\x1b', '\r']) expect(stdout + stderr).not.toContain(control);
    expect((stdout + stderr).split('\n').length).toBeLessThanOrEqual(60);
    // Nothing is left running, and nobody else reads what may hold names.
    expect(await areListening(folder)).toEqual([false, false]);
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
    expect(await areListening(findFolder())).toEqual([true, true]);
    program.kill('SIGINT');
    const { exitCode, stdout } = await program.ended;
    expect(exitCode).toBe(0);
    expect(stdout).toContain('What to do next');
    expect(await areListening(findFolder())).toEqual([false, false]);
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
    expect(await areListening(findFolder())).toEqual([false, false]);
  });
});
