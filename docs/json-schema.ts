import * as z from 'zod';
import { settingsSchema } from '../src/config/schema.js';

/** What editors need of a JSON Schema, as far as it is changed here. */
interface Rules {
  readonly [keyword: string]: unknown;
  readonly type?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly anyOf?: readonly Rules[];
  readonly oneOf?: readonly Rules[];
  readonly items?: Rules;
}

/** The bounds that a text may have, and a text with a variable may break. */
const textBounds = ['pattern', 'allOf', 'enum'];
const holdsVariable: Rules = { type: 'string', pattern: '\\$\\{' };

/** The JSON Schema of hotel-review.yaml as it is written, with variables not yet filled in: editors help with it. */
export function renderJsonSchema(): string {
  const { $schema, ...rules } = z.toJSONSchema(settingsSchema, { io: 'input' }) as Rules;
  return `${JSON.stringify({ $schema, title: 'hotel-review.yaml', ...allowVariables(rules) }, undefined, 2)}\n`;
}

/** `${NAME}` may stand in every text, also where the text it becomes must have a certain form. */
function allowVariables(rules: Rules): Rules {
  const { properties, anyOf, oneOf, items } = rules;
  if (rules.type === 'string' && textBounds.some((bound) => bound in rules)) {
    const { description, default: fallback, ...form } = rules;
    return {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      anyOf: [form, holdsVariable],
    };
  }
  return {
    ...rules,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, allowVariables(member)]),
      ),
    }),
    ...(anyOf && { anyOf: anyOf.map(allowVariables) }),
    ...(oneOf && { oneOf: oneOf.map(allowVariables) }),
    ...(items && { items: allowVariables(items) }),
  };
}
