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
import { findProgram, knownHostsLine, openSftpRoom, type SftpRoom } from '../support/sandbox-sftp-room.js';

const sftp = findProgram('/usr/bin/sftp', '/usr/local/bin/sftp', '/opt/homebrew/bin/sftp');
const needs = sftp === undefined ? ' (needs sftp: apt-get install openssh-client)' : '';

interface Ended {
  readonly exitCode: number | string | null;
  readonly output: string;
  readonly complaints: string;
}

describe.skipIf(needs !== '')(`OpenSSH's sftp at the sandbox's SFTP server${needs}`, () => {
  let room: SftpRoom;
  beforeEach(async () => {
    room = await openSftpRoom();
    writeFileSync(join(room.folder, 'known_hosts'), knownHostsLine(room));
    giveAnswer(room.login.password);
  });
  afterEach(() => room.stop());

  /** Called by ssh instead of asking for the password. */
  function giveAnswer(password: string): void {
    writeFileSync(join(room.folder, 'password'), password);
    writeFileSync(join(room.folder, 'askpass'), '#!/bin/sh\nexec cat "$(dirname "$0")/password"\n', {
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
      SSH_ASKPASS: join(room.folder, 'askpass'),
      SSH_ASKPASS_REQUIRE: 'force',
    };
    return new Promise((resolve) => {
      execFile(
        program,
        ['-F', 'none', ...options, ...args],
        { cwd: room.folder, env },
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
    writeFileSync(join(room.folder, 'batch'), `${lines.join('\n')}\n`);
    const { host, port } = room.server;
    return run(sftp ?? 'sftp', ['-P', String(port), '-b', 'batch', `${room.login.username}@${host}`]);
  }

  it('creates folders, puts, lists, gets, renames and removes', async () => {
    const content = randomBytes(2_000_003);
    writeFileSync(join(room.folder, 'día 1.csv'), content);
    mkdirSync(room.disk('VerifyMappings'));

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
    expect(readFileSync(join(room.folder, 'back')).equals(content)).toBe(true);
    expect(output).toContain('Remote working directory: /\n');
    expect(output).toMatch(/\n-rw------- .* 2000003 [A-Z][a-z]{2} .* 20112026\.csv\n/);
    expect(output).toContain('\n112026/another name');
    expect(readdirSync(room.disk('VerifyMappings'))).toEqual([]);
    expect(room.events).toEqual([
      { kind: 'logged-in' },
      { kind: 'received', path: 'VerifyMappings/112026/20112026.tmp', bytes: content.length },
      {
        kind: 'renamed',
        from: 'VerifyMappings/112026/20112026.tmp',
        to: 'VerifyMappings/112026/20112026.csv',
      },
      {
        kind: 'renamed',
        from: 'VerifyMappings/112026/20112026.csv',
        to: 'VerifyMappings/112026/another name',
      },
      { kind: 'removed', path: 'VerifyMappings/112026/another name' },
      { kind: 'removed', path: 'VerifyMappings/112026' },
    ]);
  });

  it('fails to rename to an existing name', async () => {
    writeFileSync(room.disk('x'), 'new');
    writeFileSync(room.disk('y'), 'old');
    const { exitCode, complaints } = await batch('rename x y');
    expect(exitCode).toBe(1);
    expect(complaints).toContain('Failure');
    expect([room.onDisk('x'), room.onDisk('y')]).toEqual(['new', 'old']);
  });

  it('preserves times and the owner’s mode in both directions', async () => {
    writeFileSync(join(room.folder, 'old'), 'x', { mode: 0o755 });
    utimesSync(join(room.folder, 'old'), 1_000, 2_000);
    expect(await batch('put -p old', 'get -p old back')).toMatchObject({ exitCode: 0, complaints: '' });
    expect(statSync(room.disk('old'))).toMatchObject({ mode: 0o100700, mtimeMs: 2_000_000 });
    expect(statSync(join(room.folder, 'back')).mtimeMs).toBe(2_000_000);
  });

  it('resumes an interrupted upload', async () => {
    const content = randomBytes(500_000);
    writeFileSync(join(room.folder, 'x'), content);
    writeFileSync(room.disk('x'), content.subarray(0, 123_456));
    expect(await batch('reput x')).toMatchObject({ exitCode: 0 });
    expect(readFileSync(room.disk('x')).equals(content)).toBe(true);
  });

  it('puts and gets folders recursively', async () => {
    mkdirSync(join(room.folder, 'tree/below'), { recursive: true });
    for (let index = 0; index < 150; index += 1)
      writeFileSync(join(room.folder, `tree/below/${index}`), `${index}`);
    expect(await batch('put -r tree', 'get -r tree back')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(room.disk('tree/below'))).toHaveLength(150);
    expect(readdirSync(join(room.folder, 'back/below'))).toHaveLength(150);
    expect(readFileSync(join(room.folder, 'back/below/149'), 'utf8')).toBe('149');
  });

  it('cannot log in with a wrong password', async () => {
    giveAnswer('wrong');
    const { exitCode, complaints } = await batch('put askpass x');
    expect(exitCode).not.toBe(0);
    expect(complaints).toContain('Permission denied');
    expect(existsSync(room.disk('x'))).toBe(false);
  });

  it('does not trust another host key', async () => {
    const stranger = await openSftpRoom();
    const line = knownHostsLine(stranger).replace(`:${stranger.server.port} `, `:${room.server.port} `);
    await stranger.stop();
    writeFileSync(join(room.folder, 'known_hosts'), line);
    const { complaints } = await batch('pwd');
    expect(complaints).toContain('REMOTE HOST IDENTIFICATION HAS CHANGED');
    expect(complaints).toContain(room.server.fingerprint);
    expect(room.events).toEqual([]);
  });

  it.each([
    ['a command', ['cat', '/etc/passwd']],
    ['a shell', []],
  ])('does not get %s, and is told why', async (_what, command) => {
    const { host, port } = room.server;
    const ssh = (sftp ?? '').replace(/sftp$/, 'ssh');
    const ended = await run(ssh, ['-n', '-p', String(port), `${room.login.username}@${host}`, ...command]);
    expect(ended.output).toBe('');
    expect(ended.complaints).toContain('This service is for SFTP only.');
    expect(ended.exitCode).toBe(1);
  });
});
