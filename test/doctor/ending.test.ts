import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const url = new URL('../../dist/src/doctor/ending.js', import.meta.url).href;

/** A process in which something goes on, and which sets its exit code after its last words. */
function run(goingOn: string) {
  const folder = makeTemporaryFolder();
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const script = `
    import { open } from 'node:fs/promises';
    import { createServer } from 'node:net';
    import { endOnceTheCodeIsSet } from '${url}';
    ${goingOn}
    for (let times = 0; times < 2; times++) endOnceTheCodeIsSet(process);
    setTimeout(() => {
      process.stdout.write('x'.repeat(1_000_000) + 'last words');
      process.exitCode = 2;
    }, 300);
  `;
  return startProgram(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, env: {} })
    .ended;
}

it.each([
  ['a server that listens', 'createServer().listen(0);'],
  ['nothing any more', ''],
])('the process ends with its code, all words written, though there is %s', async (_, goingOn) => {
  const { exitCode, stdout, stderr } = await run(goingOn);
  expect([exitCode, stdout.length, stdout.slice(-10), stderr]).toEqual([2, 1_000_010, 'last words', '']);
});

it('a process with a thread that hangs is killed, all words written, and says why', async () => {
  const { exitCode, stdout, stderr } = await run(`open('fifo');`);
  expect([exitCode, stdout.length, stdout.slice(-10)]).toEqual([null, 1_000_010, 'last words']);
  expect(stderr).toContain('a file system does not answer');
});
