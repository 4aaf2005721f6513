import { join } from 'node:path';
import type { AuthenticationType } from 'ssh2';
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
    expect(sftp.told).toEqual(['SFTP: logged in']);
  });

  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['an empty password', { password: '' }],
    ['the right password with a suffix', { password: 'sécret "1"!' }],
    ['an unknown user', { username: 'somebody' }],
    ['a user name in capitals', { username: 'ACME' }],
  ])('refuses %s, and does not tell who it was', async (_what, login) => {
    await expect(sftp.connect(login)).rejects.toEqual(refused);
    expect(sftp.told).toEqual(['SFTP: login refused (wrong-login)']);
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
    const expected = ['SFTP: login refused (no-password)'];
    await vi.waitFor(() => expect(sftp.told).toEqual(expected), { timeout: patienceMs });
  });

  it('accepts the password after a key was refused', async () => {
    const { username, password } = sftp.login;
    const key = await readOrMakeHostKey(join(sftp.folder, 'login'));
    const authHandler = [
      { type: 'publickey' as const, username, key },
      { type: 'password' as const, username, password },
    ];
    await sftp.connect({ authHandler });
    expect(sftp.told).toEqual(['SFTP: logged in']);
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
