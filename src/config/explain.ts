import type * as z from 'zod';
import { isGroup } from '../base/setting-values.js';
import { findKinds, mayBeQuoted, outlineSetting, takeMember } from './outline.js';
import { formatPath, type Problem } from './problems.js';
import type { SettingsTree } from './read.js';

/** How much of a wrong text is shown. */
const shownCharacters = 60;

/** Explains in our own words what the schema objects to. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  { tree, origins }: SettingsTree,
): Problem[] {
  const valueAt = (path: readonly PropertyKey[]) => path.reduce<unknown>(takeMember, tree);
  const all = issues.flatMap((issue) =>
    issue.code !== 'invalid_union'
      ? [issue]
      : issue.discriminator === undefined
        ? findMistakesInGroup(issue, valueAt(issue.path))
        : [issue, ...findMistakesOfEveryKind(issue, valueAt)],
  );
  const problems = all.flatMap((issue): Problem[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => explainName(issue.path, key, valueAt(issue.path)));
    // The member's name is wrong, not its value.
    if (issue.code === 'invalid_key') return [explainKey(issue)];
    const path = formatPath(issue.path);
    const value = valueAt(issue.path);
    const origin = origins.get(path);
    if (typeof value === 'string' && origin !== undefined) {
      const got = origin === 'file' ? 'a text from a file' : 'a text from the environment';
      return [{ path, message: addGot(issue.message, got) }];
    }
    const got = mayBeQuoted(issue.path) ? describe(value) : describeType(value);
    const needsQuotes =
      issue.code === 'invalid_type' && issue.expected === 'string' && typeof value === 'number';
    return [
      {
        path,
        message: addGot(issue.message, needsQuotes ? `${got} (digits need quotes to be a text)` : got),
      },
    ];
  });
  // Several rules of a setting share one message.
  return problems.filter(
    ({ path, message }, index) =>
      problems.findIndex((one) => one.path === path && one.message === message) === index,
  );
}

function addGot(message: string, got: string): string {
  return message.startsWith('expected ') ? `${message}, got: ${got}` : message;
}

function explainKey({ path, issues }: z.core.$ZodIssueInvalidKey): Problem {
  const group = path.slice(0, -1);
  const message = issues[0]?.message ?? '';
  return mayBeQuoted(group)
    ? { path: formatPath(path), message: addGot(message, describe(path.at(-1))) }
    : { path: showUnknownName(group, String(path.at(-1))), message: addGot(message, 'another name') };
}

/** What looks like no name of a setting may be a value that lacks its name. */
function showUnknownName(path: readonly PropertyKey[], name: string): string {
  if (/^[\w -]{1,30}$/.test(name)) return formatPath([...path, name]);
  return path.length === 0 ? '[…]' : `${formatPath(path)}[…]`;
}

function explainName(path: readonly PropertyKey[], name: string, group: unknown): Problem {
  const { names } = outlineSetting(path);
  const setting = showUnknownName(path, name);
  // A setting that another kind of this group has. The kind itself is known.
  if (names.includes(name))
    return { path: setting, message: `unknown setting where kind is ${takeMember(group, 'kind')}` };
  const meant = findNearestName(name, names);
  return {
    path: setting,
    message: meant === undefined ? 'unknown setting' : `unknown setting; did you mean ${meant}?`,
  };
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a group';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function describe(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '') return describeType(value);
  // Even a malformed address may hold a password.
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1];
  if (scheme !== undefined) return `${scheme}://…`;
  if (value.includes('@') || value.includes('://')) return 'a text';
  const shown = value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value;
  const looksLikeText =
    /^[!-~]+(?: [!-~]+)*…?$/.test(shown) && !/^(?:[\d.+-]+|true|false|null|~)$/i.test(shown);
  return looksLikeText ? shown : JSON.stringify(shown);
}

/** For a setting that may be a text or a group: what is wrong inside the group. */
function findMistakesInGroup(issue: z.core.$ZodIssueInvalidUnion, value: unknown): z.core.$ZodIssue[] {
  const inside = isGroup(value)
    ? issue.errors.find((issues) =>
        issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
      )
    : undefined;
  return inside === undefined
    ? [issue]
    : inside.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

/**
 * The schema doesn't check a group with an unknown `kind`. To report all problems at once, this finds those that exist
 * no matter which kind was meant.
 *
 * @param issue about the unknown kind
 * @param valueAt the settings as written
 */
function findMistakesOfEveryKind(
  issue: z.core.$ZodIssueInvalidUnion,
  valueAt: (path: readonly PropertyKey[]) => unknown,
): z.core.$ZodIssue[] {
  const path = issue.path.slice(0, -1);
  const kind = issue.path.at(-1);
  const [first = [], ...others] = findKinds(path).map((group) =>
    (group.safeParse(valueAt(path)).error?.issues ?? [])
      .flatMap(splitNames)
      .filter((one) => one.path[0] !== kind),
  );
  const known = others.map((issues) => new Set(issues.map(identify)));
  return first
    .filter((one) => known.every((identities) => identities.has(identify(one))))
    .map((one) => ({ ...one, path: [...path, ...one.path] }));
}

/** One issue lists all unknown names, and a name may be known to one kind only. */
function splitNames(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
}

function identify(issue: z.core.$ZodIssue): string {
  return JSON.stringify([issue.path, issue.code === 'unrecognized_keys' ? issue.keys : issue.message]);
}

/** How many letters may differ in a typo: a third, at least two. */
const allowedDistance = (word: string) => Math.max(2, Math.floor(word.length / 3));

/** The name that was probably meant; undefined if none is similar. Case does not count. */
function findNearestName(word: string, names: readonly string[]): string | undefined {
  let nearest: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = measureDistance(word.toLowerCase(), name.toLowerCase());
    // A name without a single matching letter was not meant.
    if (distance > allowedDistance(name) || distance >= name.length) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
}

/** The Levenshtein distance. */
function measureDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [done, letter] of [...from].entries()) {
    const next = [done + 1];
    for (const [index, wanted] of [...to].entries()) {
      const exchanged = (row[index] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(exchanged, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
