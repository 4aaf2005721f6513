import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);

it('the documented test of a module passes for many chunks of bookings when it is copied', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'module-kit-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const page = await readFile('docs/sources-module.md', 'utf8');
  const example = /```js\n(import \{ test \} from 'node:test';.*?)```/s.exec(page)?.[1] ?? '';
  expect(example).toContain("path: '/srv/review/bookings.mjs'");
  const path = join(folder, 'bookings.mjs');
  await writeFile(
    path,
    'export async function* bookings() { for (let id = 1; id <= 20_000; id += 1) yield { ServiceId: id }; }\n',
  );
  await writeFile(join(folder, 'bookings.test.mjs'), example.replace('/srv/review/bookings.mjs', path));
  await mkdir(join(folder, 'node_modules'));
  await symlink(process.cwd(), join(folder, 'node_modules', 'booked-hotel-review'));
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const { stdout, stderr } = await run(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: folder,
    env,
  });
  expect(stdout).toMatch(/^# pass 1$/m);
  expect(stdout + stderr).not.toContain('it ended the process');
});
