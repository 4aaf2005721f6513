import * as z from 'zod';
import { explainIssues } from './explain.js';
import { findKinds, isOfKind } from './outline.js';
import { formatPath } from './problems.js';
import { settingsSchema } from './schema.js';

/**
 * Returns what is wrong with the value of a single setting, worded as in the whole check; undefined if nothing is.
 *
 * @param beside other settings that the check depends on: without a kind, the settings of a source are not checked
 */
export function checkSetting(
  path: readonly [string, ...string[]],
  value: unknown,
  beside: Readonly<Record<string, unknown>> = { source: { kind: 'csv' } },
): string | undefined {
  const tree = { ...beside };
  setAt(tree, path, value);
  const issues = settingsSchema.safeParse(tree).error?.issues ?? [];
  const wanted = formatPath(path);
  return explainIssues(issues, settingsSchema, { tree, origins: new Map(), problems: [] }).find(
    ({ path }) => path === wanted || path === `${wanted}[0]`,
  )?.message;
}

function setAt(tree: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const group = { ...(tree[name] as Record<string, unknown> | undefined) };
  tree[name] = group;
  setAt(group, rest, value);
}

/** What the schema says about a setting, for people who write a configuration. */
interface SettingFacts {
  /** One sentence. */
  readonly description: string;
  /** Undefined if there is none. */
  readonly fallback: unknown;
}

/**
 * @param kind of the source, if several kinds have a setting of that name
 * @throws RangeError for a setting that the schema doesn't have
 */
export function readSettingFacts(path: readonly string[], kind?: string): SettingFacts {
  const name = path.at(-1) ?? '';
  const groups = findKinds(settingsSchema, path.slice(0, -1)).filter(({ shape }) =>
    Object.hasOwn(shape, name),
  );
  const group = groups.find((one) => kind !== undefined && isOfKind(one, kind)) ?? groups[0];
  const member: z.core.$ZodType | undefined = group?.shape[name];
  if (member === undefined) throw new RangeError(`expected a setting of the schema, got: ${path.join('.')}`);
  const { description = '', default: fallback } = z.toJSONSchema(member, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { description, fallback };
}
