import { once } from 'node:events';
import { join } from 'node:path';
import ssh2, { type AuthenticationType } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readOrMakeHostKey } from '../../src/sandbox/sftp/host-key.js';
import { patienceMs } from '../support/patience.js';
import { type ServedSftp, serveSftp } from './served-sftp.js';

const refused = expect.objectContaining({ level: 'client-authentication' });

describe('logging in to the SFTP server', () => {
  let sftp: ServedSftp;
  beforeEach(async () => {
    sftp = await serveSftp();
  });
  afterEach(() => sftp.stop());

  it('accepts the right user name and password', async () => {
    await sftp.connect();
    expect(sftp.events).toEqual([{ kind: 'logged-in' }]);
  });

  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['an empty password', { password: '' }],
    ['the right password with a suffix', { password: 'sécret "1"!' }],
    ['an unknown user', { username: 'somebody' }],
    ['a user name in capitals', { username: 'ACME' }],
  ])('refuses %s, and does not tell who it was', async (_what, login) => {
    await expect(sftp.connect(login)).rejects.toEqual(refused);
    expect(sftp.events).toEqual([{ kind: 'login-refused', reason: 'wrong-login' }]);
  });

  it('offers password authentication only', async () => {
    const offers: (readonly AuthenticationType[] | null)[] = [];
    await expect(
      sftp.connect({
        authHandler: (offered: readonly AuthenticationType[] | null) => {
          offers.push(offered);
          return offers.length === 1 ? 'none' : false;
        },
      }),
    ).rejects.toEqual(refused);
    expect(offers.at(-1)).toEqual(['password']);
  });

  it('refuses a key and reports that no password was sent', async () => {
    const privateKey = await readOrMakeHostKey(join(sftp.folder, 'login'));
    const { username } = sftp.login;
    const keyOnly = { type: 'publickey' as const, username, key: privateKey };
    await expect(sftp.connect({ authHandler: [keyOnly] })).rejects.toEqual(refused);
    const expected = [{ kind: 'login-refused', reason: 'no-password' }];
    await vi.waitFor(() => expect(sftp.events).toEqual(expected), { timeout: patienceMs });
  });

  it('accepts the password after a key was refused', async () => {
    const { username, password } = sftp.login;
    const key = await readOrMakeHostKey(join(sftp.folder, 'login'));
    const authHandler = [
      { type: 'publickey' as const, username, key },
      { type: 'password' as const, username, password },
    ];
    await sftp.connect({ authHandler });
    expect(sftp.events).toEqual([{ kind: 'logged-in' }]);
  });

  it('closes a connection that keeps guessing', async () => {
    const { host, port } = sftp.server;
    const client = new ssh2.Client();
    client.on('error', () => {});
    const ended = once(client, 'close');
    let guesses = 0;
    const authHandler = () => {
      guesses += 1;
      return { type: 'password' as const, username: 'acme', password: `guess ${guesses}` };
    };
    client.connect({ host, port, username: 'acme', authHandler });
    await ended;
    expect(sftp.events).toEqual(Array(6).fill({ kind: 'login-refused', reason: 'wrong-login' }));
  });

  it('presents its host key to the client', async () => {
    const shown: string[] = [];
    await sftp.connect({
      hostHash: 'sha256',
      hostVerifier: (hash: string) => {
        shown.push(`SHA256:${Buffer.from(hash, 'hex').toString('base64').replace('=', '')}`);
        return true;
      },
    });
    expect(shown).toEqual([sftp.server.fingerprint]);
  });
});
