import { generateKeyPairSync } from 'node:crypto';
import ssh2, { type AuthenticationType, type ParsedKey } from 'ssh2';
import { describe, expect, it, vi } from 'vitest';
import { chooseAuthentication } from '../../../src/transports/sftp/login.js';

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
});
const key = ssh2.utils.parseKey(pem as string);
if (key instanceof Error) throw key;

/** The methods tried against a server that refuses them all, or accepts each only as one of several. */
function triedBy(
  { password, key }: { readonly password?: string; readonly key?: ParsedKey },
  ...offers: readonly (readonly AuthenticationType[] | null)[]
): (string | false)[] {
  const choose = chooseAuthentication('acme', password, key);
  return offers.map((offered) => {
    const next: unknown = Reflect.apply(choose, undefined, [offered, false, () => {}]);
    return typeof next === 'object' && next !== null && 'type' in next ? String(next.type) : false;
  });
}

describe('logging in', () => {
  it('offers the key, and only once', () => {
    expect(triedBy({ key }, null, ['publickey', 'password'])).toEqual(['publickey', false]);
  });

  it('sends the password once, and only when the server asks for one', () => {
    const both: AuthenticationType[] = ['password', 'keyboard-interactive'];
    expect(triedBy({ password: 'secret' }, null, both, both)).toEqual(['none', 'password', false]);
  });

  it('answers a server that asks for the password interactively', () => {
    const dialogue: AuthenticationType[] = ['publickey', 'keyboard-interactive'];
    expect(triedBy({ password: 'secret' }, null, dialogue, dialogue)).toEqual([
      'none',
      'keyboard-interactive',
      false,
    ]);
  });

  it('gives key and password to a server that requires both', () => {
    expect(triedBy({ key, password: 'secret' }, null, ['password'])).toEqual(['publickey', 'password']);
  });

  it('gives up when no method is left', () => {
    expect(triedBy({ password: 'secret' }, null, ['publickey', 'hostbased'])).toEqual(['none', false]);
    expect(triedBy({}, null, ['password'])).toEqual(['none', false]);
  });

  it('sends the password only to prompts without echo', () => {
    const choose = chooseAuthentication('acme', 'secret', undefined);
    const next: unknown = Reflect.apply(choose, undefined, [['keyboard-interactive'], false, () => {}]);
    const finish = vi.fn();
    const { prompt } = next as { prompt: (...args: unknown[]) => void };
    prompt(
      '',
      '',
      '',
      [
        { prompt: 'Password:', echo: false },
        { prompt: 'Name:', echo: true },
      ],
      finish,
    );
    expect(finish).toHaveBeenCalledWith(['secret', '']);
  });
});
