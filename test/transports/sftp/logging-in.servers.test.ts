import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import { patienceMs } from '../../support/patience.js';
import { openSsh } from '../../support/sftp-programs.js';
import { findFreePort, makeKey, type RunningSftpServer } from '../../support/sftp-server.js';
import { startForSuite } from '../../support/use-servers.js';

/** Tries to connect; returns `connected` or the error. */
async function tryToConnect(
  { port, root, fingerprints }: Pick<RunningSftpServer, 'port' | 'root' | 'fingerprints'>,
  options: Partial<SftpServerOptions> & { username: string },
): Promise<unknown> {
  const server = createSftpServer({ host: '127.0.0.1', port, root, hostKeys: fingerprints, ...options });
  try {
    await (await server.connect({ signal: new AbortController().signal })).close();
    return 'connected';
  } catch (error) {
    return error;
  }
}

const fingerprints = [`SHA256:${'A'.repeat(43)}`];
const fatal = (code: string) => expect.objectContaining({ name: 'SftpError', kind: 'fatal', code });

describe('logging in by key', () => {
  const server = startForSuite(openSsh);
  const authorise = (privateKeyFile: string) =>
    appendFileSync(join(server().folder, 'authorized_keys'), readFileSync(`${privateKeyFile}.pub`));

  it('works with an RSA key, signed with SHA-2', async () => {
    const { folder, login } = server();
    const privateKeyFile = makeKey(join(folder, 'rsa'), 'rsa');
    authorise(privateKeyFile);
    expect(await tryToConnect(server(), { ...login, privateKeyFile })).toBe('connected');
  });

  it('is not tried at a server whose host key is not pinned: it learns no user name', async () => {
    const { login, folder } = server();
    const before = readFileSync(join(folder, 'sshd.log'), 'utf8').length;
    const pinned = { ...server(), fingerprints };
    expect(await tryToConnect(pinned, login)).toEqual(fatal('host-key-refused'));
    const log = () => readFileSync(join(folder, 'sshd.log'), 'utf8').slice(before);
    await vi.waitUntil(() => log().includes('[preauth]'), { timeout: patienceMs, interval: 10 });
    // sshd logs the name of anyone who starts to log in.
    expect(log()).not.toMatch(/\buser\b/);
  });

  it('is refused with a key that the server does not know', async () => {
    const { folder, login } = server();
    const privateKeyFile = makeKey(join(folder, 'stranger'), 'ed25519');
    expect(await tryToConnect(server(), { ...login, privateKeyFile })).toEqual(
      fatal('authentication-refused'),
    );
  });
});

describe('a private key that cannot be used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  beforeEach(({ skip }) => skip(openSsh.needs !== undefined, openSsh.needs));
  beforeAll(() => {
    if (openSsh.needs !== undefined) return;
    makeKey(join(folder, 'protected'), 'ed25519', 'open sésame');
    writeFileSync(join(folder, 'rubbish'), 'BEGIN of nothing, s3cret');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['a passphrase', 'protected', /it has a passphrase/],
    ['a public key', 'protected.pub', /public key/],
    ['something that is not a key', 'rubbish', /not a private key/],
    ['no file', 'absent', /ENOENT/],
  ])('fails before connecting for %s, and reveals no secret', async (_what, name, why) => {
    const privateKeyFile = join(folder, name);
    const options = { username: 'acme', privateKeyFile };

    const error = await tryToConnect({ port: await findFreePort(), root: '/', fingerprints }, options);

    expect(error).toEqual(fatal('private-key-unreadable'));
    expect(String(error)).toMatch(why);
    expect(String(error)).toContain(privateKeyFile);
    expect(String(error)).not.toMatch(/not this|s3cret|sésame/);
  });
});
