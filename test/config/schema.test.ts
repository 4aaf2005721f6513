import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { settingsSchema } from '../../src/config/schema.js';

describe('the schema', () => {
  const jsonSchema = z.toJSONSchema(settingsSchema, { io: 'input' });

  it('can be written as JSON Schema, without transforms', () => {
    expect(jsonSchema).toMatchObject({
      required: ['service', 'source'],
      additionalProperties: false,
      properties: {
        body: { properties: { batchSize: { type: 'integer', minimum: 1, maximum: 10_000, default: 500 } } },
      },
    });
  });

  it('describes every setting in one sentence', () => {
    const listUndescribed = (node: unknown, path: string): string[] => {
      const { properties = {}, oneOf = [] } = z
        .looseObject({
          properties: z.record(z.string(), z.unknown()).optional(),
          oneOf: z.array(z.unknown()).optional(),
        })
        .parse(node);
      const own = Object.entries(properties).flatMap(([name, member]) => [
        ...(/^[A-Z`].*[^.]\.$/.test(String(z.looseObject({}).parse(member).description))
          ? []
          : [`${path}${name}`]),
        ...listUndescribed(member, `${path}${name}.`),
      ]);
      return [...own, ...oneOf.flatMap((kind) => listUndescribed(kind, path))];
    };
    expect(listUndescribed(jsonSchema, '')).toEqual([]);
  });
});
