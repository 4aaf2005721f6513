import { isIP } from 'node:net';
import { resolve } from 'node:path';
import * as z from 'zod';
import { isLoopback } from './addresses.js';

/**
 * The types of values of settings, each with one message for anything else. The message begins with "expected", and the
 * report adds what was found instead. Other messages are reported unchanged.
 */
export const expected = (what: string) => `expected ${what}`;

/** Values that must not be shown: secrets, and (`private`) values that are confidential without being secret. */
export const confidentiality = z.registry<{ readonly level: 'secret' | 'private' }>();

export function group<Shape extends z.core.$ZodLooseShape>(shape: Shape, what = 'a group of settings') {
  return z.strictObject(shape, {
    // Unknown names are explained where the known ones are known.
    error: (issue) => (issue.code === 'invalid_type' ? expected(what) : undefined),
  });
}

export const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const text = (what = 'a text') => z.string(expected(what)).min(1, expected(what));

/** A text of the form that `what` describes. */
export const textLike = (form: RegExp, what: string) => z.string(expected(what)).regex(form, expected(what));

/** A text that a function accepts. */
export const textThat = (isUsable: (value: string) => boolean, what: string) =>
  z.string(expected(what)).refine(isUsable, expected(what));

export const hostName = () =>
  textThat(
    (host) => isIP(host) !== 0 || /^(?:[a-z\d_-]+\.)*[a-z\d_-]+\.?$/i.test(host),
    'a host name or an address, without a port',
  );

/** A value for an HTTP header: visible ASCII, with spaces inside only. */
export const headerText = () =>
  textLike(/^[!-~](?:[ -~]*[!-~])?$/, 'a text of ASCII characters without spaces at its ends');

const clockTime = '(?:[01]\\d|2[0-3]):[0-5]\\d';

/** HH:MM */
export const timeOfDay = (example: string) =>
  textLike(new RegExp(`^${clockTime}$`), `a time of day such as "${example}"`);

/** HH:MM, or `none`. */
export const timeOfDayOrNone = (example: string) =>
  textLike(new RegExp(`^(?:${clockTime}|none)$`), `a time of day such as "${example}", or none`);

/** Where something is called over HTTP. The message quotes nothing of the address, which may hold a secret. */
export const webAddress = (example: string) => {
  const what = expected(`an address such as ${example}`);
  return z.string(what).refine((address) => findFault(address, what) === undefined, {
    error: ({ input }) => findFault(String(input), what),
  });
};

function findFault(address: string, what: string): string | undefined {
  if (!/^https?:\/\/[^/?#]/i.test(address) || !URL.canParse(address)) return what;
  const { protocol, hostname, username, password, hash } = new URL(address);
  if (username !== '' || password !== '') return 'must not hold a user name or a password';
  if (hash !== '') return 'must not hold a fragment, which never reaches a server';
  return protocol === 'http:' && !isLoopback(hostname)
    ? 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])'
    : undefined;
}

export function wholeNumber(from: number, to: number) {
  const what = expected(`a whole number from ${from} to ${to}`);
  return z.int(what).min(from, what).max(to, what);
}

export function numberUpTo(to: number) {
  const what = expected(`a number above 0 and up to ${to}`);
  return z.number(what).gt(0, what).max(to, what);
}

export function share() {
  const what = expected('a share from 0 to 1');
  return z.number(what).min(0, what).max(1, what);
}

export const oneOf = <const Choices extends readonly [string, ...string[]]>(...choices: Choices) =>
  z.enum(choices, expected(choices.join(' or ')));

/** One of several groups, distinguished by their `kind`. */
export function groupByKind<const Groups extends readonly [KindOfGroup, ...KindOfGroup[]]>(
  groups: Groups,
  what: string,
) {
  const kinds = groups.map(({ shape }) => shape.kind.value);
  return z.discriminatedUnion('kind', groups, {
    error: ({ code }) => expected(code === 'invalid_union' ? kinds.join(' or ') : what),
  });
}

type KindOfGroup = z.ZodObject<{ readonly kind: z.ZodLiteral<string> }, z.core.$strict>;

/** The group with that path absolute, if it has it. @param folder the base of relative paths */
export function resolveMember<Group extends object>(
  group: Group,
  name: Group extends unknown ? keyof Group : never,
  folder: string,
): Group {
  const path = group[name];
  return typeof path === 'string' ? { ...group, [name]: resolve(folder, path) } : group;
}

/** Whether `read` does not throw. */
export function isAccepted(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** What `read` says is wrong with a value, in a RangeError; undefined if it takes it. */
export function objectionTo(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
