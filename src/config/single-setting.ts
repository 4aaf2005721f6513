import * as z from 'zod';
import { findKinds, isOfKind } from './outline.js';
import { settingsSchema } from './schema.js';

/**
 * What the schema says about a setting, for people who write a configuration.
 *
 * @param kind of the source, if several kinds have a setting of that name
 * @throws RangeError for a setting that the schema doesn't have
 */
export function readSettingFacts(path: readonly string[], kind?: string) {
  const name = path.at(-1) ?? '';
  const groups = findKinds(settingsSchema, path.slice(0, -1)).filter(({ shape }) =>
    Object.hasOwn(shape, name),
  );
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
  return findKinds(settingsSchema, path).map(({ shape }) =>
    Object.entries(shape).map(([name, member]) => [
      name,
      member instanceof z.ZodLiteral ? member.value : readFacts(member).fallback,
    ]),
  );
}

/** The names in a group, in the order of the schema. @param kind of the group, if there are several */
export function listSettingNames(path: readonly string[], kind: string): readonly string[] {
  const group = findKinds(settingsSchema, path).find((one) => isOfKind(one, kind));
  return Object.keys(group?.shape ?? {});
}
