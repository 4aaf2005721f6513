import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seed, usualSeed } from './seed.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the command: tests call it in-process and start the built one. Tests that use single modules in another process find
 * them compiled.
 */
export default function setUp(): void {
  // The processes of the tests get it with all other variables.
  process.env.SEED = String(seed);
  if (seed !== usualSeed) console.log(`Generated cases are made from SEED=${seed}`);
  if (!isUpToDate('dist/jobs/main.js')) run('npm', ['run', '--silent', 'build']);
  if (isUpToDate('compiled/jobs/main.js')) return;
  rmSync(join(root, 'compiled'), { recursive: true, force: true });
  run('npx', ['tsc', '-p', 'test/support/tsconfig.json']);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
}

/** Whether nothing has changed since that was built; deleting a file changes its folder's time. */
function isUpToDate(output: string): boolean {
  const built = join(root, output);
  if (!existsSync(built)) return false;
  const since = statSync(built).mtimeMs;
  const sources = ['src', 'jobs'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  ]);
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'bundle.js'];
  return [...sources, ...settings].every((name) => statSync(join(root, name)).mtimeMs < since);
}
