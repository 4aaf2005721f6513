import type { AnyAuthMethod, AuthenticationType, AuthHandlerMiddleware, ParsedKey } from 'ssh2';

export interface Credentials {
  readonly username: string;
  readonly password: string | undefined;
  readonly key: ParsedKey | undefined;
}

/**
 * Tries the key, then the password, each once: a second attempt with a wrong password would bring an account nearer to
 * being locked. The password answers keyboard-interactive only where the server doesn't take it directly. A server that
 * wants both key and password gets both.
 */
export function chooseAuthentication({ username, password, key }: Credentials): AuthHandlerMiddleware {
  const tried = new Set<AuthenticationType>();

  const method = (offered: readonly AuthenticationType[] | null): AnyAuthMethod | false => {
    if (key !== undefined && !tried.has('publickey')) return { type: 'publickey', username, key };
    // What the server takes is only known after a first try.
    if (offered === null) return { type: 'none', username };
    if (password === undefined || tried.has('password') || tried.has('keyboard-interactive')) return false;
    if (offered.includes('password')) return { type: 'password', username, password };
    if (!offered.includes('keyboard-interactive')) return false;
    return {
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) =>
        finish(prompts.map(({ echo }) => (echo ? '' : password))),
    };
  };

  // ssh2 takes the answer as the handler's return value too, and false (which its types lack) as "no more".
  return (offered: readonly AuthenticationType[] | null) => {
    const next = method(offered);
    if (next !== false) tried.add(next.type);
    return next;
  };
}
