import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findUnpinnedServer } from '../../src/doctor/unpinned-server.js';
import { makeTemporaryFolder } from './temporary-folder.js';

function write(text: string): string {
  const file = join(makeTemporaryFolder(), 'hotel-review.yaml');
  writeFileSync(file, text);
  return file;
}

function find(file: string, env: NodeJS.ProcessEnv = {}, wrongSettings = ['file.sftp.hostKey']) {
  return findUnpinnedServer(file, env, wrongSettings);
}

it.each([
  [
    'host and port',
    'file: { sftp: { host: h.example.com, port: 2222 } }',
    { host: 'h.example.com', port: 2222 },
  ],
  ['the usual port', 'file: { sftp: { host: h.example.com } }', { host: 'h.example.com', port: 22 }],
  [
    'a host of the environment',
    `file: { sftp: { host: "\${HOST}" } }`,
    { host: 'env.example.com', port: 22 },
  ],
  ['no host of a missing variable', `file: { sftp: { host: "\${NOWHERE}" } }`, undefined],
  ['no host with a password in it', 'file: { sftp: { host: "sftp://u:p@h" } }', undefined],
  ['no port that is none', 'file: { sftp: { host: h, port: 99999 } }', undefined],
  ['nothing in other words', 'file: [1]', undefined],
  ['nothing in what is no YAML', 'file: {', undefined],
])('finds the SFTP server in a configuration that is not understood yet: %s', async (_, text, server) => {
  expect(await find(write(text), { HOST: 'env.example.com' })).toEqual(server);
});

it('finds the SFTP server by a variable of .env', async () => {
  const file = write(`file: { sftp: { host: "\${HOST}" } }`);
  writeFileSync(join(file, '..', '.env'), 'HOST=dotenv.example.com\n');
  expect(await find(file)).toEqual({ host: 'dotenv.example.com', port: 22 });
});

it('finds no SFTP server where there is no file', async () => {
  expect(await find(join(makeTemporaryFolder(), 'none.yaml'))).toBeUndefined();
});

it.each([
  ['the only pin', ['timezone', 'file.sftp.hostKey'], true],
  ['one of the pins', ['file.sftp.hostKey.1'], true],
  ['something else', ['file.sftp.username', 'timezone'], false],
])('looks for it where the pin is what is wrong: %s', async (_, wrongSettings, isLookedFor) => {
  const server = await find(write('file: { sftp: { host: h.example.com } }'), {}, wrongSettings);
  expect(server !== undefined).toBe(isLookedFor);
});
