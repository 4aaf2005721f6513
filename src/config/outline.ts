import * as z from 'zod';
import { confidentiality } from './kinds.js';

/** What the schema knows about one place in the tree of settings. */
export interface SettingOutline {
  /** The names that may stand there; none where it is no group. */
  readonly names: readonly string[];
  /** The strictest level on the way to it. */
  readonly level: 'secret' | 'private' | 'open';
}

/** Follows a path into the schema, as far as the schema knows it. */
export function outlineSetting(schema: z.core.$ZodType, path: readonly PropertyKey[]): SettingOutline {
  let inner = unwrap(schema);
  let level: SettingOutline['level'] = 'open';
  for (const name of path) {
    if (!(inner instanceof z.ZodObject)) break;
    const next: z.core.$ZodType | undefined = Object.hasOwn(inner.shape, name)
      ? inner.shape[String(name)]
      : undefined;
    if (next === undefined) return { names: [], level };
    inner = unwrap(next);
    level = confidentiality.get(inner)?.level ?? level;
  }
  return { names: inner instanceof z.ZodObject ? Object.keys(inner.shape) : [], level };
}

/** The paths of all settings with that name, in any group; case does not count. */
export function findSettingsNamed(schema: z.core.$ZodType, name: string): string[][] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([key, member]) => [
    ...(key.toLowerCase() === name.toLowerCase() ? [[key]] : []),
    ...findSettingsNamed(member, name).map((path) => [key, ...path]),
  ]);
}

/** A setting without its default and the like. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodExactOptional
  ) {
    inner = inner.unwrap();
  }
  return inner;
}
