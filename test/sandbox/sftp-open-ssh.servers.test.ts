import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram, knownHostsLine, type ServedSftp, serveSftp } from './served-sftp.js';

const sftp = findProgram('/usr/bin/sftp', '/usr/local/bin/sftp', '/opt/homebrew/bin/sftp');
const needs = sftp === undefined ? ' (needs sftp: apt-get install openssh-client)' : '';

interface Ended {
  readonly exitCode: number | string | null;
  readonly output: string;
  readonly complaints: string;
}

describe.skipIf(needs !== '')(`OpenSSH's sftp at the sandbox's SFTP server${needs}`, () => {
  let server: ServedSftp;
  beforeEach(async () => {
    server = await serveSftp();
    writeFileSync(join(server.folder, 'known_hosts'), knownHostsLine(server));
    giveAnswer(server.login.password);
  });
  afterEach(() => server.stop());

  /** Called by ssh instead of asking for the password. */
  function giveAnswer(password: string): void {
    writeFileSync(join(server.folder, 'password'), password);
    writeFileSync(join(server.folder, 'askpass'), '#!/bin/sh\nexec cat "$(dirname "$0")/password"\n', {
      mode: 0o700,
    });
  }

  function run(program: string, args: readonly string[]): Promise<Ended> {
    const options = [
      'UserKnownHostsFile=known_hosts',
      'GlobalKnownHostsFile=/dev/null',
      'StrictHostKeyChecking=yes',
      'NumberOfPasswordPrompts=1',
      // Batch mode forbids passwords; the first setting wins.
      'BatchMode=no',
    ].flatMap((option) => ['-o', option]);
    const env = {
      PATH: process.env.PATH,
      SSH_ASKPASS: join(server.folder, 'askpass'),
      SSH_ASKPASS_REQUIRE: 'force',
    };
    return new Promise((resolve) => {
      execFile(
        program,
        ['-F', 'none', ...options, ...args],
        { cwd: server.folder, env },
        (error, stdout, stderr) =>
          resolve({
            exitCode: error === null ? 0 : (error.code ?? null),
            output: stdout,
            complaints: stderr,
          }),
      );
    });
  }

  /** Runs the lines; stops at the first failure, except on lines that start with a dash. */
  function batch(...lines: readonly string[]): Promise<Ended> {
    writeFileSync(join(server.folder, 'batch'), `${lines.join('\n')}\n`);
    const { host, port } = server.server;
    return run(sftp ?? 'sftp', ['-P', String(port), '-b', 'batch', `${server.login.username}@${host}`]);
  }

  it('creates folders, puts, lists, gets, renames and removes', async () => {
    const content = randomBytes(2_000_003);
    writeFileSync(join(server.folder, 'día 1.csv'), content);
    mkdirSync(server.disk('VerifyMappings'));

    const { exitCode, output, complaints } = await batch(
      'pwd',
      'cd VerifyMappings',
      'mkdir 112026',
      'put "día 1.csv" 112026/20112026.tmp',
      'rename 112026/20112026.tmp 112026/20112026.csv',
      'ls -l 112026',
      'get 112026/20112026.csv back',
      'rename 112026/20112026.csv "112026/another name"',
      'ls 112026',
      'rm "112026/another name"',
      'rmdir 112026',
    );

    expect({ exitCode, complaints }).toEqual({ exitCode: 0, complaints: '' });
    expect(readFileSync(join(server.folder, 'back')).equals(content)).toBe(true);
    expect(output).toContain('Remote working directory: /\n');
    expect(output).toMatch(/\n-rw------- .* 2000003 [A-Z][a-z]{2} .* 20112026\.csv\n/);
    expect(output).toContain('\n112026/another name');
    expect(readdirSync(server.disk('VerifyMappings'))).toEqual([]);
    const folder = 'VerifyMappings/112026';
    expect(server.told).toEqual([
      'SFTP: logged in',
      `SFTP: received ${folder}/20112026.tmp, ${content.length} bytes`,
      `SFTP: renamed ${folder}/20112026.tmp to ${folder}/20112026.csv`,
      `SFTP: renamed ${folder}/20112026.csv to ${folder}/another name`,
      `SFTP: removed ${folder}/another name`,
      `SFTP: removed ${folder}`,
    ]);
  });

  it('fails to rename to an existing name', async () => {
    writeFileSync(server.disk('x'), 'new');
    writeFileSync(server.disk('y'), 'old');
    const { exitCode, complaints } = await batch('rename x y');
    expect(exitCode).toBe(1);
    expect(complaints).toContain('Failure');
    expect([server.onDisk('x'), server.onDisk('y')]).toEqual(['new', 'old']);
  });

  it('preserves times and the owner’s mode in both directions', async () => {
    writeFileSync(join(server.folder, 'old'), 'x', { mode: 0o755 });
    utimesSync(join(server.folder, 'old'), 1_000, 2_000);
    expect(await batch('put -p old', 'get -p old back')).toMatchObject({ exitCode: 0, complaints: '' });
    expect(statSync(server.disk('old'))).toMatchObject({ mode: 0o100700, mtimeMs: 2_000_000 });
    expect(statSync(join(server.folder, 'back')).mtimeMs).toBe(2_000_000);
  });

  it('resumes an interrupted upload', async () => {
    const content = randomBytes(500_000);
    writeFileSync(join(server.folder, 'x'), content);
    writeFileSync(server.disk('x'), content.subarray(0, 123_456));
    expect(await batch('reput x')).toMatchObject({ exitCode: 0 });
    expect(readFileSync(server.disk('x')).equals(content)).toBe(true);
  });

  it('puts and gets folders recursively', async () => {
    mkdirSync(join(server.folder, 'tree/below'), { recursive: true });
    for (let index = 0; index < 150; index += 1)
      writeFileSync(join(server.folder, `tree/below/${index}`), `${index}`);
    expect(await batch('put -r tree', 'get -r tree back')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(server.disk('tree/below'))).toHaveLength(150);
    expect(readdirSync(join(server.folder, 'back/below'))).toHaveLength(150);
    expect(readFileSync(join(server.folder, 'back/below/149'), 'utf8')).toBe('149');
  });

  it('cannot log in with a wrong password', async () => {
    giveAnswer('wrong');
    const { exitCode, complaints } = await batch('put askpass x');
    expect(exitCode).not.toBe(0);
    expect(complaints).toContain('Permission denied');
    expect(existsSync(server.disk('x'))).toBe(false);
  });

  it('does not trust another host key', async () => {
    const stranger = await serveSftp();
    const line = knownHostsLine(stranger).replace(`:${stranger.server.port} `, `:${server.server.port} `);
    await stranger.stop();
    writeFileSync(join(server.folder, 'known_hosts'), line);
    const { complaints } = await batch('pwd');
    expect(complaints).toContain('REMOTE HOST IDENTIFICATION HAS CHANGED');
    expect(complaints).toContain(server.server.fingerprint);
    expect(server.told).toEqual([]);
  });

  it.each([
    ['a command', ['cat', '/etc/passwd']],
    ['a shell', []],
  ])('does not get %s, and is told why', async (_what, command) => {
    const { host, port } = server.server;
    const ssh = (sftp ?? '').replace(/sftp$/, 'ssh');
    const ended = await run(ssh, ['-n', '-p', String(port), `${server.login.username}@${host}`, ...command]);
    expect(ended.output).toBe('');
    expect(ended.complaints).toContain('This service is for SFTP only.');
    expect(ended.exitCode).toBe(1);
  });
});
