import type * as z from 'zod';
import { findMistakesOfEveryKind } from './every-kind.js';
import { isGroup } from './kinds.js';
import { findNearestName } from './nearest-name.js';
import { findSettingsNamed, outlineSetting } from './outline.js';
import { formatPath, type Problem } from './problems.js';
import type { SettingsTree } from './read.js';

/** How much of a wrong text is shown. */
const shownCharacters = 60;

/** Says in our words what the schema found wrong with the settings. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  schema: z.core.$ZodType,
  { tree, fromEnvironment }: SettingsTree,
): Problem[] {
  const valueAt = (path: readonly PropertyKey[]) => path.reduce<unknown>(takeMember, tree);
  const all = issues.flatMap((issue) =>
    issue.code === 'invalid_union' && issue.discriminator !== undefined
      ? [issue, ...findMistakesOfEveryKind(issue, schema, valueAt)]
      : [issue],
  );
  const problems = all.flatMap((issue): Problem[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => explainName(issue.path, key, schema, valueAt(issue.path)));
    const path = formatPath(issue.path);
    // The name of a member is wrong, not its value.
    if (issue.code === 'invalid_key')
      return [{ path, message: addGot(issue.issues[0]?.message, issue.path.at(-1)) }];
    const value = valueAt(issue.path);
    if (typeof value === 'string' && fromEnvironment.has(path)) {
      return [{ path, message: addGot(issue.message, undefined, 'a text from the environment') }];
    }
    const { level, names } = outlineSetting(schema, issue.path);
    // A text in the place of a group may be any of its members.
    const isShown = level === 'open' && names.length === 0;
    const got = isShown ? describe(value) : describeType(value);
    const needsQuotes =
      issue.code === 'invalid_type' && issue.expected === 'string' && typeof value === 'number';
    return [
      {
        path,
        message: addGot(issue.message, value, needsQuotes ? `${got} (digits need quotes to be a text)` : got),
      },
    ];
  });
  // Several rules of one setting have one sentence.
  return problems.filter(
    ({ path, message }, index) =>
      problems.findIndex((one) => one.path === path && one.message === message) === index,
  );
}

function addGot(message = '', value: unknown, got = describe(value)): string {
  return message.startsWith('expected ') ? `${message}, got: ${got}` : message;
}

function explainName(
  path: readonly PropertyKey[],
  name: string,
  schema: z.core.$ZodType,
  group: unknown,
): Problem {
  const { names } = outlineSetting(schema, path);
  const place = formatPath([...path, name]);
  // A setting of another kind of this group: the kind is a word that the schema knows.
  if (names.includes(name)) return { path: place, message: `unknown setting where kind is ${kindOf(group)}` };
  const known = findNearestName(name, names);
  const elsewhere = findSettingsNamed(schema, name)[0];
  const meant = known ?? (elsewhere && formatPath(elsewhere));
  return {
    path: place,
    message: meant === undefined ? 'unknown setting' : `unknown setting; did you mean ${meant}?`,
  };
}

function kindOf(group: unknown): string {
  return isGroup(group) ? String(group.kind) : '';
}

function takeMember(parent: unknown, name: PropertyKey): unknown {
  if (Array.isArray(parent)) return parent[Number(name)];
  return isGroup(parent) && Object.hasOwn(parent, name) ? parent[String(name)] : undefined;
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
  // An address may hold a password, also where it is badly written.
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1];
  if (scheme !== undefined) return `${scheme}://…`;
  if (value.includes('@') || value.includes('://')) return 'a text';
  const shown = value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value;
  const looksLikeText =
    /^[!-~]+(?: [!-~]+)*…?$/.test(shown) && !/^(?:[\d.+-]+|true|false|null|~)$/i.test(shown);
  return looksLikeText ? shown : JSON.stringify(shown);
}
