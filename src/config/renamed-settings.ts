import { isGroup } from '../settings/values.js';
import { formatPath } from './problems.js';
import type { SettingsTree } from './read.js';

/** A setting that a configuration still has under its previous name. */
export interface RenamedSetting {
  /** The path with the old name. */
  readonly from: string;
  /** The new name. */
  readonly to: string;
}

/** Names that this version still accepts and the next one will refuse. */
const renamed = [{ group: ['source', 'pagination'], from: 'behindLast', to: 'afterLastPage' }] as const;

/** Gives settings their new names. If a group has both names, the old one stays and is reported as unknown. */
export function renameSettings(read: SettingsTree): {
  readonly read: SettingsTree;
  readonly renamedSettings: readonly RenamedSetting[];
} {
  const renamedSettings: RenamedSetting[] = [];
  let { tree } = read;
  const origins = new Map(read.origins);
  for (const { group, from, to } of renamed) {
    const before = tree;
    tree = changeGroup(tree, group, (settings) =>
      Object.hasOwn(settings, from) && !Object.hasOwn(settings, to)
        ? Object.fromEntries(
            Object.entries(settings).map(([name, value]) => [name === from ? to : name, value]),
          )
        : settings,
    );
    if (tree === before) continue;
    const path = formatPath([...group, from]);
    renamedSettings.push({ from: path, to });
    const origin = origins.get(path);
    if (origin !== undefined) origins.set(formatPath([...group, to]), origin);
  }
  return { read: { ...read, tree, origins }, renamedSettings };
}

type Group = Readonly<Record<string, unknown>>;

/** Returns the same tree if nothing changes. */
function changeGroup(tree: unknown, path: readonly string[], change: (group: Group) => Group): unknown {
  if (!isGroup(tree)) return tree;
  const [name, ...rest] = path;
  if (name === undefined) return change(tree);
  const member = tree[name];
  const changed = changeGroup(member, rest, change);
  return changed === member ? tree : { ...tree, [name]: changed };
}
