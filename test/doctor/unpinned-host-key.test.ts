import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findUnpinnedServers } from '../../src/checks/doctor/configuration.js';
import { makeTemporaryFolder } from './temporary-folder.js';

function write(text: string): string {
  const file = join(makeTemporaryFolder(), 'hotel-review.yaml');
  writeFileSync(file, text);
  return file;
}

function find(file: string, env: NodeJS.ProcessEnv = {}, wrongSettings = ['file.sftp.hostKey']) {
  return findUnpinnedServers(file, env, wrongSettings);
}

const ofDelivery = (host: string, port: number) => ({
  part: 'sftp',
  setting: 'file.sftp.hostKey',
  host,
  port,
});
const ofSource = (host: string, port: number) => ({
  part: 'source',
  setting: 'source.sftp.hostKey',
  host,
  port,
});

it.each([
  [
    'host and port',
    'file: { sftp: { host: h.example.com, port: 2222 } }',
    [ofDelivery('h.example.com', 2222)],
  ],
  ['the usual port', 'file: { sftp: { host: h.example.com } }', [ofDelivery('h.example.com', 22)]],
  ['a host of the environment', `file: { sftp: { host: "\${HOST}" } }`, [ofDelivery('env.example.com', 22)]],
  ['no host of a missing variable', `file: { sftp: { host: "\${NOWHERE}" } }`, []],
  ['no host with a password in it', 'file: { sftp: { host: "sftp://u:p@h" } }', []],
  ['no port that is none', 'file: { sftp: { host: h, port: 99999 } }', []],
  ['nothing in other words', 'file: [1]', []],
  ['nothing in what is no YAML', 'file: {', []],
])('finds the SFTP server in an invalid configuration: %s', async (_, text, servers) => {
  expect(await find(write(text), { HOST: 'env.example.com' })).toEqual(servers);
});

it.each([
  ['host and port', 'sftp://h.example.com:2222/out/{day}.csv', [ofSource('h.example.com', 2222)]],
  ['the usual port', 'sftp://h.example.com/~/{day}.csv', [ofSource('h.example.com', 22)]],
  ['an IPv6 address', 'sftp://[::1]:2222/{day}.csv', [ofSource('::1', 2222)]],
  ['a host of the environment', `sftp://\${HOST}/{day}.csv`, [ofSource('env.example.com', 22)]],
  ['no host of a missing variable', `sftp://\${NOWHERE}/{day}.csv`, []],
  ['no host with a password before it', 'sftp://u:p@h.example.com/{day}.csv', []],
  ['no host of a bucket', 's3://h.example.com/{day}.csv', []],
  ['no host of a path of this machine', 'in/{day}.csv', []],
])('finds the server of the day’s file in the path of the source: %s', async (_, path, servers) => {
  const file = write(JSON.stringify({ source: { kind: 'csv', path, sftp: { username: 'u' } } }));
  expect(await find(file, { HOST: 'env.example.com' }, ['source.sftp.hostKey'])).toEqual(servers);
});

it('finds both servers where both are unpinned', async () => {
  const file = write(
    'file: { sftp: { host: a.example.com } }\nsource: { path: "sftp://b.example.com/{day}.csv" }',
  );
  expect(await find(file, {}, ['source.sftp.hostKey.0', 'file.sftp.hostKey'])).toEqual([
    ofDelivery('a.example.com', 22),
    ofSource('b.example.com', 22),
  ]);
  expect(await find(file, {}, ['source.sftp.hostKey'])).toEqual([ofSource('b.example.com', 22)]);
});

it('finds the SFTP server by a variable of .env', async () => {
  const file = write(`file: { sftp: { host: "\${HOST}" } }`);
  writeFileSync(join(file, '..', '.env'), 'HOST=dotenv.example.com\n');
  expect(await find(file)).toEqual([ofDelivery('dotenv.example.com', 22)]);
});

it('finds no SFTP server where there is no file', async () => {
  expect(await find(join(makeTemporaryFolder(), 'none.yaml'))).toEqual([]);
});

it.each([
  ['the only pin', ['timezone', 'file.sftp.hostKey'], true],
  ['one of the pins', ['file.sftp.hostKey.1'], true],
  ['something else', ['file.sftp.username', 'timezone'], false],
])('only looks for it if the host key is wrong: %s', async (_, wrongSettings, isLookedFor) => {
  const servers = await find(write('file: { sftp: { host: h.example.com } }'), {}, wrongSettings);
  expect(servers.length > 0).toBe(isLookedFor);
});
