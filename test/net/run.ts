import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Shows that the net finds faults: puts each fault of this folder into a copy of the source, and runs the net on it. Fails if
 * a patch no longer applies, or if a fault is not found: `npm run net`.
 */
const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const copy = mkdtempSync(join(tmpdir(), 'net-'));

function runNet(): boolean {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/net/vitest.config.ts'],
    { cwd: copy, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  );
  const failed = /Tests\s+(\d+) failed/.exec(stdout);
  // A fault must make a test fail, not keep it from starting.
  if (status !== 0 && !failed) throw new Error(`the net did not run:\n${stdout}${stderr}`);
  return status === 0;
}

try {
  for (const path of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0'))
    if (path !== '') cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  const found = [{ fault: 'none', isRight: runNet() }];
  for (const patch of readdirSync(here)
    .filter((name) => name.endsWith('.patch'))
    .sort()) {
    execFileSync('patch', ['-p1', '--input', join(here, patch)], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    found.push({ fault: patch, isRight: !runNet() });
    execFileSync('patch', ['-p1', '--reverse', '--input', join(here, patch)], { cwd: copy, stdio: 'ignore' });
  }
  for (const { fault, isRight } of found) console.log(`${isRight ? 'as expected' : 'NOT FOUND'}: ${fault}`);
  process.exitCode = found.every(({ isRight }) => isRight) ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true });
}
