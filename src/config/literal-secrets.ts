import type * as z from 'zod';
import { isGroup } from './kinds.js';
import { holdsPassword } from './locations.js';
import { outlineSetting } from './outline.js';
import { formatPath } from './problems.js';
import type { SettingsTree } from './read.js';

/** The settings, as paths, whose secret stands in the file and did not come from the environment. */
export function findLiteralSecrets(
  schema: z.core.$ZodType,
  { tree, fromEnvironment }: SettingsTree,
): string[] {
  const isSecret = (path: readonly PropertyKey[], text: string) =>
    outlineSetting(schema, path).level === 'secret' || holdsPassword(text);

  const search = (value: unknown, path: readonly PropertyKey[]): string[] => {
    if (typeof value === 'string') {
      return isSecret(path, value) && !fromEnvironment.has(formatPath(path)) ? [formatPath(path)] : [];
    }
    if (Array.isArray(value)) return value.flatMap((item, index) => search(item, [...path, index]));
    if (!isGroup(value)) return [];
    return Object.entries(value).flatMap(([name, member]) => search(member, [...path, name]));
  };
  return search(tree, []);
}
