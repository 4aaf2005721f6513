import { explainIssues } from './explain.js';
import { formatPath } from './problems.js';
import { settingsSchema } from './schema.js';

/**
 * Says what is wrong with the value of one setting, in the words in which a configuration that holds it is refused;
 * undefined when nothing is.
 */
export function checkSetting(path: readonly [string, ...string[]], value: unknown): string | undefined {
  // Without a kind no setting of a source would be looked at.
  const tree = { source: { kind: 'csv' } };
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
