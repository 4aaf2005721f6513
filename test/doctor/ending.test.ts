import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeTemporaryFolder } from './temporary-folder.js';

const url = new URL('../../dist/src/doctor/ending.js', import.meta.url).href;

/** A process in which something goes on, and which may set its exit code after its last words. */
function run({ goingOn, setsCode = true }: { readonly goingOn: string; readonly setsCode?: boolean }) {
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
      if (${setsCode}) process.exitCode = 2;
    }, 300);
  `;
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    { cwd: folder, env: {}, encoding: 'utf8', timeout: 30_000 },
  );
  return { ended: [status, signal], written: [stdout.length, stdout.slice(-10)], stderr };
}

const everything = [1_000_010, 'last words'];

it('a process in which something goes on ends with its code, all words written', () => {
  const { ended, written, stderr } = run({ goingOn: 'createServer().listen(0);' });
  expect(ended).toEqual([2, null]);
  expect(written).toEqual(everything);
  expect(stderr).toBe('');
});

it('a process in which nothing goes on any more ends by itself, whether it has a code or not', () => {
  expect(run({ goingOn: '' }).ended).toEqual([2, null]);
  expect(run({ goingOn: '', setsCode: false }).ended).toEqual([0, null]);
});

it('a process with a thread that hangs is killed, all words written, and says why', () => {
  const { ended, written, stderr } = run({ goingOn: `open('fifo');` });
  expect(ended).toEqual([null, 'SIGKILL']);
  expect(written).toEqual(everything);
  expect(stderr).toContain('a file system does not answer');
});
