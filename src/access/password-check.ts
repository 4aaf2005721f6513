import { createBackOff } from './back-off.js';
import { decoyHash, isPassword } from './passwords.js';
import { readUserName, type User } from './users-file.js';

export interface Credentials {
  readonly name: string;
  readonly password: string;
}

export type CheckedPassword =
  | { readonly kind: 'right'; readonly user: User }
  /** With the name if such a user exists: an unknown one may be a password typed into the wrong field. */
  | { readonly kind: 'wrong'; readonly knownName?: string }
  /** Nothing was checked. */
  | { readonly kind: 'slowed'; readonly retryAfterSeconds: number };

/** Hashing takes 32 MiB and a core for a moment, which reviews need too. */
const maxAtOnce = 2;
const maxWaiting = 20;
const busyRetrySeconds = 5;

interface PasswordCheckOptions {
  readonly listUsers: () => Promise<readonly User[]>;
  readonly clock: () => number;
}

/** Checks passwords, a few at a time; failures make the address and the name wait. */
export function createPasswordCheck({ listUsers, clock }: PasswordCheckOptions) {
  const addresses = createBackOff(clock);
  const names = createBackOff(clock, (name) => name);
  const waiting: (() => void)[] = [];
  let atWork = 0;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (atWork < maxAtOnce) atWork += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    }
  }

  async function check({ name, password }: Credentials, address: string): Promise<CheckedPassword> {
    // An impossible name counts as a wrong one.
    const written = readUserName(name) ?? '';
    // Only now, because checks ahead of it in the queue may have failed.
    const retryAfterSeconds = Math.max(addresses.findWait(address), names.findWait(written));
    if (retryAfterSeconds > 0) return { kind: 'slowed', retryAfterSeconds };
    const user = (await listUsers()).find((one) => one.name === written);
    if ((await isPassword(password, user?.password ?? decoyHash)) && user) {
      // Not of the address: whoever knows one password could otherwise guess those of others without a wait.
      names.recordSuccess(written);
      return { kind: 'right', user };
    }
    addresses.recordFailure(address);
    names.recordFailure(written);
    return { kind: 'wrong', ...(user && { knownName: user.name }) };
  }

  return (credentials: Credentials, address: string): Promise<CheckedPassword> =>
    waiting.length >= maxWaiting
      ? Promise.resolve({ kind: 'slowed', retryAfterSeconds: busyRetrySeconds })
      : inTurn(() => check(credentials, address));
}
