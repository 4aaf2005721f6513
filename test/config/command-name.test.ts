import { expect, it } from 'vitest';
import { commandNameIn } from '../../src/config/command-name.js';

const PATH = '/usr/local/bin:/usr/bin';

it.each([
  ['npx --no hotel-review', { npm_command: 'exec', PATH }, '/srv/review/node_modules/.bin/hotel-review'],
  ['npx --no hotel-review', { npm_command: 'run-script' }, undefined],
  ['hotel-review', { PATH }, '/usr/local/bin/hotel-review'],
  ['/srv/review/node_modules/.bin/hotel-review', { PATH }, '/srv/review/node_modules/.bin/hotel-review'],
  ["'/srv/my review/node_modules/.bin/hotel-review'", {}, '/srv/my review/node_modules/.bin/hotel-review'],
  ['node /opt/review/dist/jobs/hotel-review.js', { PATH }, '/opt/review/dist/jobs/hotel-review.js'],
  ['hotel-review', { PATH }, undefined],
])('The command is named %s', (name, env, script) => {
  expect(commandNameIn(env, script)).toBe(name);
});
