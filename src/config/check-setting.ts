import { explainIssues } from './explain.js';
import { formatPath } from './problems.js';
import { settingsSchema } from './schema.js';

/**
 * Says what is wrong with the value of one setting, in the words in which a configuration that holds it is refused;
 * undefined when nothing is.
 *
 * @param beside the other settings that its check depends on: without a kind no setting of a source is looked at
 */
export function checkSetting(
  path: readonly [string, ...string[]],
  value: unknown,
  beside: Readonly<Record<string, unknown>> = { source: { kind: 'csv' } },
): string | undefined {
  const tree = { ...beside };
  place(tree, path, value);
  const issues = settingsSchema.safeParse(tree).error?.issues ?? [];
  const wanted = formatPath(path);
  return explainIssues(issues, settingsSchema, { tree, fromEnvironment: new Set(), problems: [] }).find(
    (problem) => problem.path === wanted,
  )?.message;
}

function place(tree: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const group = { ...(tree[name] as Record<string, unknown> | undefined) };
  tree[name] = group;
  place(group, rest, value);
}
