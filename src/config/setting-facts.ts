import * as z from 'zod';
import { findKinds } from './outline.js';
import { settingsSchema } from './schema.js';

/** What the schema says of one setting to those who write a configuration. */
export interface SettingFacts {
  /** One sentence. */
  readonly description: string;
  /** Undefined where there is none. */
  readonly fallback: unknown;
}

/**
 * @param kind that of the source, where several kinds have a setting of that name
 * @throws RangeError for a setting that the schema doesn't have
 */
export function readSettingFacts(path: readonly string[], kind?: string): SettingFacts {
  const name = path.at(-1) ?? '';
  const groups = findKinds(settingsSchema, path.slice(0, -1)).filter(({ shape }) =>
    Object.hasOwn(shape, name),
  );
  const group = groups.find(({ shape }) => kind !== undefined && isOfKind(shape.kind, kind)) ?? groups[0];
  const member: z.core.$ZodType | undefined = group?.shape[name];
  if (member === undefined) throw new RangeError(`expected a setting of the schema, got: ${path.join('.')}`);
  const { description = '', default: fallback } = z.toJSONSchema(member, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { description, fallback };
}

function isOfKind(schema: z.core.$ZodType | undefined, kind: string): boolean {
  return schema instanceof z.ZodLiteral && schema.values.has(kind);
}
