import * as z from 'zod';
import { confidentiality, isGroup } from '../base/setting-values.js';
import { settingsSchema } from './schema.js';

/** What the schema says about a place in the tree of settings. */
interface SettingOutline {
  /** The allowed names; none if it is not a group. */
  readonly names: readonly string[];
  /** Whether it may be a text instead of a group. */
  readonly takesText: boolean;
  /** The strictest level on its path; `unknown` for a setting that the schema lacks. */
  readonly level: 'secret' | 'private' | 'open' | 'unknown';
}

/**
 * Whether a message may quote what is written there: nobody knows what an unknown setting holds, and a text in place of a group may
 * be any of its members.
 */
export function mayBeQuoted(path: readonly PropertyKey[]): boolean {
  const { level, names, takesText } = outlineSetting(path);
  return level === 'open' && (names.length === 0 || takesText);
}

/**
 * Follows a path into the schema as far as it goes. A group of several kinds counts as all of them at once, a list as its
 * items.
 *
 * @param tree the settings as written: with them, a group that names its kind counts as that kind only
 */
export function outlineSetting(path: readonly PropertyKey[], tree?: unknown): SettingOutline {
  let groups = listKinds(settingsSchema);
  let level: SettingOutline['level'] = 'open';
  let takesText = false;
  let written = tree;
  for (const name of path) {
    if (groups.length === 0) break;
    const group = written;
    written = takeMember(group, name);
    // The items of a list share one schema.
    if (typeof name === 'number') continue;
    const members = listMembers(ofItsKind(groups, group), String(name));
    if (members.length === 0)
      return { names: [], takesText: false, level: level === 'open' ? 'unknown' : level };
    const levels = members.flatMap(listWrappers).map((one) => confidentiality.get(one)?.level);
    level = levels.find((one) => one === 'secret') ?? levels.find((one) => one !== undefined) ?? level;
    groups = members.flatMap(listKinds);
    takesText = members.some(acceptsText);
  }
  return { names: listNames(groups), takesText, level };
}

/** The kinds of the group at that path. A plain group has one kind; anything else has none. */
export function findKinds(path: readonly PropertyKey[]): readonly z.ZodObject[] {
  return path
    .filter((name) => typeof name !== 'number')
    .reduce<readonly z.ZodObject[]>(
      (groups, name) => listMembers(groups, String(name)).flatMap(listKinds),
      listKinds(settingsSchema),
    );
}

/** The value of a member in the settings as written. */
export function takeMember(parent: unknown, name: PropertyKey): unknown {
  if (Array.isArray(parent)) return parent[Number(name)];
  return isGroup(parent) && Object.hasOwn(parent, name) ? parent[String(name)] : undefined;
}

/** Whether a group is of that kind. */
function isOfKind({ shape }: z.ZodObject, kind: unknown): boolean {
  return shape.kind instanceof z.ZodLiteral && shape.kind.values.has(kind as z.core.util.Literal);
}

function ofItsKind(groups: readonly z.ZodObject[], written: unknown): readonly z.ZodObject[] {
  const kind = takeMember(written, 'kind');
  const ofKind = groups.filter((group) => isOfKind(group, kind));
  return ofKind.length > 0 ? ofKind : groups;
}

function listKinds(schema: z.core.$ZodType): z.ZodObject[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return [inner];
  if (inner instanceof z.ZodArray) return listKinds(inner.element as z.core.$ZodType);
  return inner instanceof z.ZodUnion ? inner.options.flatMap(listKinds) : [];
}

function acceptsText(schema: z.core.$ZodType): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodUnion && inner.options.some((option) => option instanceof z.ZodString);
}

function listNames(groups: readonly z.ZodObject[]): string[] {
  return [...new Set(groups.flatMap(({ shape }) => Object.keys(shape)))];
}

function listMembers(groups: readonly z.ZodObject[], name: string): z.core.$ZodType[] {
  return groups.flatMap(({ shape }) => {
    const member: z.core.$ZodType | undefined = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return member === undefined ? [] : [member];
  });
}

/** The schema of a setting without wrappers such as its default. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return listWrappers(schema).at(-1) ?? schema;
}

/** The schema of a setting and what it wraps, from the outside to the inside. */
function listWrappers(schema: z.core.$ZodType): z.core.$ZodType[] {
  const isWrapper =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodExactOptional;
  return isWrapper ? [schema, ...listWrappers(schema.unwrap())] : [schema];
}

/**
 * What the schema says about a setting, for people who write a configuration.
 *
 * @param kind of the source, if several kinds have a setting of that name
 * @throws RangeError for a setting that the schema doesn't have
 */
export function readSettingFacts(path: readonly string[], kind?: string) {
  const name = path.at(-1) ?? '';
  const groups = findKinds(path.slice(0, -1)).filter(({ shape }) => Object.hasOwn(shape, name));
  const group = groups.find((one) => kind !== undefined && isOfKind(one, kind)) ?? groups[0];
  const member: z.core.$ZodType | undefined = group?.shape[name];
  if (member === undefined) throw new RangeError(`expected a setting of the schema, got: ${path.join('.')}`);
  return readFacts(member);
}

/** The description is one sentence. */
function readFacts(member: z.core.$ZodType) {
  const { description = '', default: fallback } = z.toJSONSchema(member, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { description, fallback };
}

/** How a group is written: in each of its kinds once, with its defaults. */
export function listForms(
  path: readonly string[],
): readonly (readonly [name: string, fallback: unknown])[][] {
  return findKinds(path).map(({ shape }) =>
    Object.entries(shape).map(([name, member]) => [
      name,
      member instanceof z.ZodLiteral ? member.value : readFacts(member).fallback,
    ]),
  );
}

/** The names in a group, in the order of the schema. @param kind of the group, if there are several */
export function listSettingNames(path: readonly string[], kind: string): readonly string[] {
  const group = findKinds(path).find((one) => isOfKind(one, kind));
  return Object.keys(group?.shape ?? {});
}
