import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';
import { patienceMs } from '../support/patience.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const url = `${compiled}src/checks/doctor/ending.js`;

/** A process that has written its last output while something that it started continues. */
function run(continuing: string) {
  const folder = makeTemporaryFolder();
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const script = `
    import { open } from 'node:fs/promises';
    import { createServer } from 'node:net';
    import { endDespiteAbandonedWork } from '${url}';
    ${continuing}
    process.stdout.write('x'.repeat(1_000_000) + 'last words');
    process.exitCode = 2;
    endDespiteAbandonedWork(process);
  `;
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    { cwd: folder, env: {}, encoding: 'utf8', timeout: patienceMs },
  );
  return { ended: [status, signal], written: [stdout.length, stdout.slice(-10)], stderr };
}

const everything = [1_000_010, 'last words'];

it('a process with abandoned work ends with its exit code once all its output is written', () => {
  const { ended, written, stderr } = run('createServer().listen(0);');
  expect(ended).toEqual([2, null]);
  expect(written).toEqual(everything);
  expect(stderr).toBe('');
});

it('a process in which nothing continues ends by itself', () => {
  expect(run('').ended).toEqual([2, null]);
});

it('a process with a thread that hangs is killed once all its output is written, and says why', () => {
  const { ended, written, stderr } = run(`open('fifo');`);
  expect(ended).toEqual([null, 'SIGKILL']);
  expect(written).toEqual(everything);
  expect(stderr).toContain('a file system does not answer');
});
