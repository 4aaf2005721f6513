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
  const password = 'secret';
  const both: AuthenticationType[] = ['password', 'keyboard-interactive'];
  const dialogue: AuthenticationType[] = ['publickey', 'keyboard-interactive'];

  it.each<[string, Parameters<typeof triedBy>[0], (AuthenticationType[] | null)[], (string | false)[]]>([
    ['offers the key, and only once', { key }, [null, ['publickey', 'password']], ['publickey', false]],
    ['sends the password once, when asked', { password }, [null, both, both], ['none', 'password', false]],
    [
      'answers a server that asks for the password interactively',
      { password },
      [null, dialogue, dialogue],
      ['none', 'keyboard-interactive', false],
    ],
    [
      'gives both to a server that requires them',
      { key, password },
      [null, ['password']],
      ['publickey', 'password'],
    ],
    ['sends the password to a server that names no method', { password }, [null, []], ['none', 'password']],
    ['gives up when no method is left', { password }, [null, ['publickey', 'hostbased']], ['none', false]],
    ['gives up without a password', {}, [null, ['password']], ['none', false]],
  ])('%s', (_what, login, offers, tried) => {
    expect(triedBy(login, ...offers)).toEqual(tried);
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
