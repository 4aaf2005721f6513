import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findHome } from '../../jobs/process.js';

it('The built command can be started by its name, as `npx --no hotel-review` does', () => {
  const packageFile = new URL('../../package.json', import.meta.url);
  const { bin, version } = JSON.parse(readFileSync(packageFile, 'utf8'));
  const command = fileURLToPath(new URL(bin['hotel-review'], packageFile));
  expect(execFileSync(command, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
});

it('starts for a user of a container who has neither a name nor a home', () => {
  const noEntry = () => {
    throw new Error('ENOENT: no such file or directory, uv_os_homedir');
  };
  expect(findHome(noEntry)).toBeUndefined();
});
