import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { beforeEach, expect, it } from 'vitest';
import { account } from '../../src/sandbox/sandbox.js';
import { type StartedSandbox, startedSandbox } from './started-sandbox.js';

// It has no option that prints its version; without arguments it prints its usage.
const needs = spawnSync('sftp').error ? 'needs sftp: apt-get install openssh-client' : undefined;
beforeEach(({ skip }) => skip(needs !== undefined, needs));

/** Runs the lines; stops at the first failure. Trusts only the sandbox's host key. */
function batch({ sftp, folder }: StartedSandbox, ...lines: readonly string[]) {
  const key = ssh2.utils.parseKey(readFileSync(join(folder, 'host-key')));
  if (key instanceof Error) throw key;
  const trusted = `[${sftp.host}]:${sftp.port} ${key.type} ${key.getPublicSSH().toString('base64')}\n`;
  writeFileSync(join(folder, 'known_hosts'), trusted);
  writeFileSync(join(folder, 'batch'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'askpass'), `#!/bin/sh\necho ${account.login.password}\n`, { mode: 0o700 });
  const options = ['UserKnownHostsFile=known_hosts', 'StrictHostKeyChecking=yes', 'BatchMode=no'];
  const args = [
    '-F',
    'none',
    ...options.flatMap((option) => ['-o', option]),
    '-P',
    String(sftp.port),
    '-b',
    'batch',
  ];
  const env = { PATH: process.env.PATH, SSH_ASKPASS: join(folder, 'askpass'), SSH_ASKPASS_REQUIRE: 'force' };
  return new Promise<{ readonly exitCode: unknown; readonly output: string; readonly complaints: string }>(
    (resolve) =>
      execFile(
        'sftp',
        [...args, `${account.login.username}@${sftp.host}`],
        { cwd: folder, env },
        (error, output, complaints) => resolve({ exitCode: error?.code ?? 0, output, complaints }),
      ),
  );
}

it("OpenSSH's sftp creates folders, puts, resumes, lists, gets, renames and removes", async () => {
  const sandbox = await startedSandbox();
  const content = randomBytes(2_000_003);
  writeFileSync(join(sandbox.folder, 'día 1.csv'), content);
  writeFileSync(join(sandbox.sftp.root, 'begun.tmp'), content.subarray(0, 123_456));
  const { exitCode, output, complaints } = await batch(
    sandbox,
    ...[
      'mkdir VerifyMappings',
      'reput "día 1.csv" begun.tmp',
      'rename begun.tmp VerifyMappings/20112026.csv',
    ],
    ...[
      'ls -l VerifyMappings',
      'get -p VerifyMappings/20112026.csv back',
      'put -p back VerifyMappings/again',
    ],
    ...['rm VerifyMappings/*', 'rmdir VerifyMappings'],
  );
  expect({ exitCode, complaints }).toEqual({ exitCode: 0, complaints: '' });
  expect(readFileSync(join(sandbox.folder, 'back')).equals(content)).toBe(true);
  expect(output).toMatch(/\n-rw-r--r-- .* 2000003 [A-Z][a-z]{2} .* 20112026\.csv\n/);
  expect(readdirSync(sandbox.sftp.root)).toEqual([]);
  writeFileSync(join(sandbox.sftp.root, 'x'), 'new');
  writeFileSync(join(sandbox.sftp.root, 'y'), 'old');
  const failed = await batch(sandbox, 'rename x y');
  expect(failed).toMatchObject({ exitCode: 1, complaints: expect.stringContaining('Failure') });
});
