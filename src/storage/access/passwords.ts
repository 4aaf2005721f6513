import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { promisify } from 'node:util';
import { hasPassed } from '../../base/elapsed.js';
import { isGuessable } from '../../base/guessable.js';

/*
 * Passwords are kept as hashes of scrypt, with salt and parameters, in the usual notation:
 * `$scrypt$ln=15,r=8,p=3$SALT$HASH`, base64 without padding.
 */

/** One of the sets that OWASP recommends; this one takes only 32 MiB, because a review may share the process. */
const parameters = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

const notation =
  /^\$scrypt\$ln=(1[4-8]),r=([1-9]|1[0-6]),p=([1-9]|1[0-6])\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

const minCharacters = 12;
/** More than anybody types, and still cheap to hash. */
const maxCharacters = 1_000;

/** What makes a password unusable, as the end of a sentence; undefined if nothing does. */
export function findPasswordFault(password: string, name: string): string | undefined {
  const { length } = Array.from(normalise(password));
  if (length < minCharacters)
    return `has ${length} characters; it needs at least ${minCharacters}, such as four random words`;
  if (length > maxCharacters) return `has more than ${maxCharacters} characters`;
  if (normalise(password).toLowerCase() === name.toLowerCase()) return 'is the name';
  if (isGuessable(password)) return 'repeats a few characters or a pattern';
  return undefined;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return write(salt, await derive(password, salt, parameters));
}

/** A text in the notation of a hash. */
export function isPasswordHash(text: string): boolean {
  return notation.test(text);
}

/** @param written by `hashPassword` */
export async function isPassword(password: string, written: string): Promise<boolean> {
  const [, ln, r, p, salt = '', hash = ''] = notation.exec(written) ?? [];
  if (Array.from(normalise(password)).length > maxCharacters) return false;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64'));
}

/** Compared if there is no such user, so that this takes as long. No known password has this hash. */
export const decoyHash = write(Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));

function write(salt: Buffer, hash: Buffer): string {
  const { ln, r, p } = parameters;
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=${r},p=${p}$${encode(salt)}$${encode(hash)}`;
}

const hashWith: (text: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

function derive(password: string, salt: Buffer, { ln, r, p }: typeof parameters): Promise<Buffer> {
  const cost = 2 ** ln;
  const options = { cost, blockSize: r, parallelization: p, maxmem: 256 * r * (cost + p) };
  return hashWith(normalise(password), salt, hashBytes, options);
}

/** A character may be typed as one code point or several, and copying adds spaces at the ends. */
function normalise(password: string): string {
  return password.trim().normalize('NFKC');
}

/** A misconfigured caller tries a few times before anyone notices. */
const freeFailures = 5;
const firstWaitMs = 1_000;
/** Short, because a caller with the right secret may share the address, for example behind a proxy. */
const longestWaitMs = 60_000;
const forgottenMs = 15 * 60_000;
const maxCallers = 10_000;

/**
 * Makes callers that send wrong credentials wait, by their address or by the name they give: after five consecutive failures each
 * further one doubles the wait, from a second up to a minute.
 *
 * @param groupOf what counts as one caller
 */
export function createBackOff(clock: () => number, groupOf = networkOf) {
  // In the order of their last failure. Instants are epoch milliseconds.
  const failed = new Map<
    string,
    { readonly count: number; readonly lastAt: number; readonly until: number }
  >();

  function find(group: string) {
    const failures = failed.get(group);
    const isForgotten = hasPassed(forgottenMs, { since: failures?.lastAt, now: clock() });
    return isForgotten ? undefined : failures;
  }

  return {
    /** For how many more seconds requests of a caller are refused; 0 if they are not. */
    findWait(caller: string): number {
      const { until = 0 } = find(groupOf(caller)) ?? {};
      return Math.ceil(Math.min(Math.max(0, until - clock()), longestWaitMs) / 1_000);
    },
    recordFailure(caller: string): void {
      const group = groupOf(caller);
      const now = clock();
      const count = (find(group)?.count ?? 0) + 1;
      const waitMs =
        count < freeFailures ? 0 : Math.min(firstWaitMs * 2 ** (count - freeFailures), longestWaitMs);
      failed.delete(group);
      failed.set(group, { count, lastAt: now, until: now + waitMs });
      const [oldest] = failed.keys();
      if (failed.size > maxCallers && oldest !== undefined) failed.delete(oldest);
    },
    recordSuccess(caller: string): void {
      failed.delete(groupOf(caller));
    },
  };
}

/** Whoever has one IPv6 address usually has the whole /64. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const given = address.split(':').filter((group) => group !== '').length;
  const full = address.replace('::', `:${'0:'.repeat(8 - given)}`).replace(/^:/, '');
  return full.split(':').slice(0, 4).join(':');
}
