import * as z from 'zod';

/**
 * The kinds of values that settings have, each with one sentence for everything that it is not.
 *
 * Such a sentence begins with "expected", and whoever reports it adds what was there instead. Any other message
 * is reported as it stands.
 */
export const expected = (what: string) => `expected ${what}`;

/** What must not be shown: a secret, or (`private`) something that is no secret and yet nobody else's business. */
export const confidentiality = z.registry<{ readonly level: 'secret' | 'private' }>();

export function group<Shape extends z.core.$ZodLooseShape>(shape: Shape, what = 'a group of settings') {
  return z.strictObject(shape, {
    // A wrong name is told by whoever knows the right ones.
    error: (issue) => (issue.code === 'invalid_type' ? expected(what) : undefined),
  });
}

export const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const text = (what = 'a text') => z.string(expected(what)).min(1, expected(what));

/** A text of a certain form, which the sentence describes. */
export const textLike = (form: RegExp, what: string) => z.string(expected(what)).regex(form, expected(what));

/** A text that a function can make something of. */
export const textThat = (isUsable: (value: string) => boolean, what: string) =>
  z.string(expected(what)).refine(isUsable, expected(what));

/** A value for an HTTP header: visible ASCII, with spaces inside only. */
export const headerText = () =>
  textLike(/^[!-~](?:[ -~]*[!-~])?$/, 'a text of ASCII characters without spaces at its ends');

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

/** One, or a list of at least one. */
export function oneOrMore<Item extends z.ZodString>(item: Item, what: string) {
  return z.union([item, z.array(item).min(1, expected(what))], expected(what));
}

/** One of several groups, told apart by their `kind`. */
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

/** Whether `read` takes it, that is, throws nothing. */
export function isAccepted(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
