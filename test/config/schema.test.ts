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
      const { properties = {} } = z
        .looseObject({ properties: z.record(z.string(), z.unknown()).optional() })
        .parse(node);
      return Object.entries(properties).flatMap(([name, member]) => [
        ...(/^[A-Z`].*[^.]\.$/.test(String(z.looseObject({}).parse(member).description))
          ? []
          : [`${path}${name}`]),
        ...listUndescribed(member, `${path}${name}.`),
      ]);
    };
    expect(listUndescribed(jsonSchema, '')).toEqual([]);
  });
});
