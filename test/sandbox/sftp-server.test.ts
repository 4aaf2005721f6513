import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import ssh2, {
  type AuthenticationType,
  type Client,
  type ClientChannel,
  type ConnectConfig,
  type FileEntryWithStats,
  type SFTPWrapper,
} from 'ssh2';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { account } from '../../src/sandbox/common/account.js';
import { readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { countDescriptors } from '../sources/files/open-descriptors.js';
import { patienceMs } from '../support/patience.js';
import { type StartedSandbox, startedSandbox } from './started-sandbox.js';

const failure = expect.objectContaining({ code: 4 });
const noSuchFile = expect.objectContaining({ code: 2 });
const unsupported = expect.objectContaining({ code: 8 });
const refusedLogin = expect.objectContaining({ level: 'client-authentication' });

/** A request as a promise, which rejects with the server's message and its status as `code`. */
function ask<T = unknown>(start: (answer: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    start((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}

let sandbox: StartedSandbox;
let clients: Client[];
beforeEach(async () => {
  clients = [];
  sandbox = await startedSandbox();
});
afterEach(() => {
  for (const client of clients) client.destroy();
});
const disk = (path: string) => join(sandbox.sftp.root, path);
const onDisk = (path: string) => readFileSync(disk(path), 'utf8');
const told = () => sandbox.told.filter((line) => line !== 'SFTP: logged in');

/** ssh2's plain client, which sends exactly what it is asked to. */
async function login(options: ConnectConfig = {}) {
  const client = new ssh2.Client();
  clients.push(client);
  const { host, port } = sandbox.sftp;
  const files = await new Promise<SFTPWrapper>((resolve, reject) => {
    client.on('error', reject).on('close', () => reject(new Error('closed')));
    client.on('ready', () => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
    client.connect({ host, port, ...account.login, ...options });
  });
  files.on('error', () => {});
  return { client, files };
}

const write = (files: SFTPWrapper, handle: Buffer, position: number, data: string | Buffer) => {
  const bytes = Buffer.from(data);
  return ask((answer) => files.write(handle, bytes, 0, bytes.length, position, answer));
};
const open = (files: SFTPWrapper, path: string, flags: Parameters<SFTPWrapper['open']>[1] = 'w') =>
  ask<Buffer>((answer) => files.open(path, flags, answer));
const close = (files: SFTPWrapper, handle: Buffer) => ask((answer) => files.close(handle, answer));

describe('logging in', () => {
  it('is refused with any other name or password, and who it was is not told', async () => {
    const wrong = [{ password: '' }, { password: `${account.login.password}x` }, { username: 'Sandbox' }];
    for (const options of wrong) await expect(login(options)).rejects.toEqual(refusedLogin);
    expect(sandbox.told).toEqual(wrong.map(() => 'SFTP: login refused (wrong-login)'));
  });

  it('works by password only, at a server that presents its host key', async () => {
    const offers: (readonly AuthenticationType[] | null)[] = [];
    const authHandler = (offered: readonly AuthenticationType[] | null) => {
      offers.push(offered);
      return offers.length === 1 ? 'none' : false;
    };
    await expect(login({ authHandler })).rejects.toEqual(refusedLogin);
    expect(offers.at(-1)).toEqual(['password']);
    const key = readFileSync(join(sandbox.folder, 'host-key'));
    const keyOnly = { type: 'publickey' as const, username: account.login.username, key };
    await expect(login({ authHandler: [keyOnly] })).rejects.toEqual(refusedLogin);
    const refusal = ['SFTP: login refused (no-password)'];
    await vi.waitFor(() => expect(sandbox.told).toEqual(refusal), { timeout: patienceMs });
    const shown: string[] = [];
    const hostVerifier = (hash: string) => shown.push(Buffer.from(hash, 'hex').toString('base64')) > 0;
    await login({ hostHash: 'sha256', hostVerifier });
    expect(shown.map((hash) => `SHA256:${hash.replace('=', '')}`)).toEqual([sandbox.sftp.fingerprint]);
    expect(sandbox.told.at(-1)).toBe('SFTP: logged in');
  });

  it('uses a host key that is made once, for its owner only, and never replaced', async () => {
    const { folder } = sandbox;
    const path = join(folder, 'host-key');
    const made = readFileSync(path, 'utf8');
    expect(await readOrMakeHostKey(path)).toBe(made);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'not a key');
    await expect(readOrMakeHostKey(path)).rejects.toThrow(`${path} contains no private key`);
    expect(readFileSync(path, 'utf8')).toBe('not a key');
    // ssh2 makes one in 256 without its leading zero: of another length, as this one is.
    const other = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
    const making = vi.spyOn(ssh2.utils, 'generateKeyPairSync').mockReturnValueOnce(other);
    onTestFinished(() => making.mockRestore());
    const key = ssh2.utils.parseKey(await readOrMakeHostKey(join(folder, 'another')));
    expect(key instanceof Error ? key : key.getPublicSSH().length).toBe(51);
  });
});

describe('files', () => {
  it('become what their flags say', async () => {
    const { files } = await login();
    for (const [flags, before, after] of [
      // flags, content before, content after writing 'XY' at position 1 ('\0' is a hole)
      ['r+', 'abcd', 'aXYd'],
      ['w', 'abcd', '\0XY'],
      ['xw+', undefined, '\0XY'],
      ['a', 'abcd', 'abcdXY'],
      ['ax', undefined, 'XY'],
    ] as const) {
      if (before !== undefined) writeFileSync(disk(flags), before);
      const handle = await open(files, flags, flags);
      await write(files, handle, 1, 'XY');
      await close(files, handle);
      expect(onDisk(flags)).toBe(after);
      expect(told().at(-1)).toBe(`SFTP: received ${flags}, ${after.length} bytes`);
    }
  });

  it('are not opened against their flags, nor by a handle that is closed or of a folder', async () => {
    const { files } = await login();
    for (const flags of ['r', 'r+'] as const)
      await expect(open(files, 'x', flags)).rejects.toEqual(noSuchFile);
    writeFileSync(disk('x'), 'abcd');
    for (const flags of ['wx', 'ax'] as const) await expect(open(files, 'x', flags)).rejects.toEqual(failure);
    const reading = await open(files, 'x', 'r');
    await expect(write(files, reading, 0, 'X')).rejects.toEqual(failure);
    await close(files, reading);
    const folder = await ask<Buffer>((answer) => files.opendir('/', answer));
    for (const handle of [reading, folder, Buffer.from('none')])
      await expect(write(files, handle, 0, 'x')).rejects.toEqual(failure);
    await expect(close(files, reading)).rejects.toEqual(failure);
    expect([onDisk('x'), told()]).toEqual(['abcd', []]);
  });

  it('are complete when many writes and the close are sent at once, in any order', async () => {
    const { files } = await login();
    const content = randomBytes(3_000_001);
    const handle = await open(files, 'x');
    const places = Array.from({ length: 101 }, (_, index) => ((index * 37) % 101) * 30_000);
    const writes = places.map((at) => write(files, handle, at, content.subarray(at, at + 30_000)));
    await Promise.all([...writes, close(files, handle)]);
    expect(readFileSync(disk('x')).equals(content)).toBe(true);
    expect(told()).toEqual([`SFTP: received x, ${content.length} bytes`]);
  });

  it('are moved and removed as told, in the order of the requests, and replace nothing', async () => {
    const [{ files }, other] = [await login(), await login()];
    writeFileSync(disk('x'), 'new');
    writeFileSync(disk('y'), 'old');
    await expect(ask((answer) => files.rename('x', 'y', answer))).rejects.toEqual(failure);
    await expect(ask((answer) => files.rename('no', 'z', answer))).rejects.toEqual(noSuchFile);
    const both = await Promise.allSettled([
      ask((answer) => files.rename('x', 'target', answer)),
      ask((answer) => other.files.rename('y', 'target', answer)),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await ask((answer) => files.unlink('target', answer));
    const left = readdirSync(disk(''))[0] ?? '';
    await Promise.all([
      ask((answer) => files.mkdir('a', answer)),
      ask((answer) => files.rename(left, '/a/../a/b', answer)),
      expect(ask((answer) => files.rmdir('a', answer))).rejects.toEqual(failure),
      ask((answer) => files.unlink('a/b', answer)),
      ask((answer) => files.rmdir('/a/', answer)),
    ]);
    expect(readdirSync(disk(''))).toEqual([]);
    expect(told().slice(1)).toEqual([
      ...['SFTP: removed target', `SFTP: renamed ${left} to a/b`, 'SFTP: removed a/b', 'SFTP: removed a'],
    ]);
  });
});

describe('a client', () => {
  it('is at the root with every path that leads above it', async () => {
    const { files } = await login();
    writeFileSync(disk('here'), '');
    for (const path of ['', '.', '..', '/../../..', 'a/../../..', '//..//.']) {
      expect(await ask<string>((answer) => files.realpath(path, answer))).toBe('/');
      const entries = await ask<FileEntryWithStats[]>((answer) => files.readdir(path, answer));
      expect(entries.map(({ filename }) => filename)).toEqual(['here']);
    }
  });

  it('finds nothing outside of the root, and cannot make or read links', async () => {
    const { files } = await login();
    const secret = join(sandbox.folder, 'secret');
    writeFileSync(secret, 'secret');
    for (const path of ['../secret', '/../secret', 'a/../../secret', secret, '/etc/passwd']) {
      await expect(open(files, path, 'r')).rejects.toEqual(noSuchFile);
      await expect(ask((answer) => files.stat(path, answer))).rejects.toEqual(noSuchFile);
      await expect(ask((answer) => files.unlink(path, answer))).rejects.toEqual(noSuchFile);
    }
    expect(existsSync(secret)).toBe(true);
    const nul = ask((answer) => files.stat('a\0b', answer));
    await expect(nul).rejects.toMatchObject({ message: expect.not.stringContaining(sandbox.folder) });
    symlinkSync(sandbox.folder, disk('folder'));
    const entries = await ask<FileEntryWithStats[]>((answer) => files.readdir('/', answer));
    expect(entries.map(({ attrs, longname }) => [attrs.isSymbolicLink(), longname[0]])).toEqual([
      [true, 'l'],
    ]);
    await expect(ask((answer) => files.readlink('/folder', answer))).rejects.toEqual(unsupported);
    await expect(ask((answer) => files.symlink(secret, '/link', answer))).rejects.toEqual(unsupported);
    expect(() => files.ext_openssh_rename('x', 'y', () => {})).toThrow('does not support');
  });

  it('makes files and folders for their owner only, whatever it asks for', async () => {
    const { files } = await login();
    await ask((answer) => files.mkdir('/open', { mode: 0o777 }, answer));
    const handle = await ask<Buffer>((answer) => files.open('/open/file', 'w', 0o666, answer));
    await close(files, handle);
    expect(statSync(disk('open')).mode & 0o777).toBe(0o700);
    expect(statSync(disk('open/file')).mode & 0o777).toBe(0o600);
    await ask((answer) => files.chmod('/open/file', 0o4777, answer));
    expect(statSync(disk('open/file')).mode & 0o7777).toBe(0o700);
    const { uid, gid } = lstatSync(disk('open'));
    await ask((answer) => files.chown('/open', uid + 1, gid, answer));
    expect(lstatSync(disk('open'))).toMatchObject({ uid, gid });
  });
});

it('closes the files of a client that leaves in mid-upload, without telling that they were received', async () => {
  const [lost, ended, channel] = [await login(), await login(), await login()];
  for (const [index, { files }] of [lost, ended, channel].entries()) await open(files, `file ${index}`);
  expect(await countDescriptors(disk(''))).toBe(3);
  lost.client.destroy();
  ended.client.end();
  channel.files.end();
  await vi.waitFor(async () => expect(await countDescriptors(disk(''))).toBe(0), { timeout: patienceMs });
  expect(told()).toEqual([]);
  const again = await ask<SFTPWrapper>((answer) => channel.client.sftp(answer));
  expect(await open(again, 'y')).toEqual(expect.any(Buffer));
});

it('ends only the channel that breaks the protocol', async () => {
  const { client, files } = await login();
  for (const bytes of [
    // Too long, before the greeting, and no request that exists.
    [0x7f, 0xff, 0xff, 0xff, 1],
    [0, 0, 0, 5, 3, 0, 0, 0, 1],
    [0, 0, 0, 5, 1, 0, 0, 0, 3, 0, 0, 0, 1, 99],
  ]) {
    const bad = await ask<ClientChannel>((answer) => client.subsys('sftp', answer));
    const ended = once(bad.resume(), 'close');
    bad.write(Buffer.from(bytes));
    await ended;
  }
  expect(await open(files, 'x')).toEqual(expect.any(Buffer));
});

it('outlives clients that speak something else, listens on this machine only, and ends all sessions when closed', async () => {
  const { host, port } = sandbox.sftp;
  expect(host).toBe('127.0.0.1');
  const noise = connect(port, host, () =>
    noise.write(`SSH-2.0-noise\r\n${'\x00\x00\x10\x00noise'.repeat(1_000)}`),
  );
  await once(noise.on('error', () => {}).resume(), 'close');
  const { client, files } = await login();
  await open(files, 'x');
  await expect(startedSandbox({ sftpPort: port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  const silent = connect(port, host);
  await once(silent, 'data');
  const ended = Promise.all([silent, client].map((each) => once(each, 'close')));
  await sandbox.close();
  await ended;
  expect(await countDescriptors(disk(''))).toBe(0);
  await expect(login()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
