// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { renderJsonSchema } from '../../../docs/json-schema.js';

const fileOf = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('The JSON Schema for editors', () => {
  const rules = JSON.parse(renderJsonSchema());

  it('is the one that the schema gives; `npm run docs` writes it', async () => {
    expect(await fileOf('schema/1.json')).toBe(renderJsonSchema());
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
    expect(listUndescribed(rules, '')).toEqual([]);
  });

  it('comes with the package', async () => {
    expect(JSON.parse(await fileOf('package.json')).files).toContain('schema');
  });

  const takes = (settings: unknown) => z.fromJSONSchema(rules).safeParse(settings).success;
  const service = { baseUrl: 'https://service.example.com/api/3.0', apiKey: '${KEY}', accountId: 'acme' };
  const source = { kind: 'csv', path: 'bookings-{day}.csv' };
  const sftp = {
    host: 'sftp.example.com',
    username: 'acme',
    password: '${PASSWORD}',
    hostKey: '${HOST_KEY}',
  };

  it('takes the sample in the README', async () => {
    const sample = /```yaml\n([\s\S]*?)```/.exec(await fileOf('README.md'))?.[1] ?? '';
    expect(sample).toContain('source:');
    expect(takes(parseYaml(sample))).toBe(true);
  });

  it.each([
    ['NDJSON', { service, source: { ...source, kind: 'ndjson' } }],
    ['a delimiter for CSV', { service, source: { ...source, delimiter: ';' } }],
    ['a delivery by file', { service, source, delivery: 'file', file: { sftp } }],
    ['variables where a text has a form', { service, source, delivery: '${DELIVERY}', file: { sftp } }],
    ['meanings of StatusCodes', { service: { ...service, statusCodes: { 2030: 'retryable' } }, source }],
  ])('takes %s', (_, settings) => {
    expect(takes(settings)).toBe(true);
  });

  it.each([
    ['nothing', {}],
    ['NDJSON with a delimiter', { service, source: { ...source, kind: 'ndjson', delimiter: ';' } }],
    ['an unknown name', { service, source, bodi: {} }],
    ['a number that is too large', { service, source, body: { batchSize: 10_001 } }],
    ['a fingerprint of another form', { service, source, file: { sftp: { ...sftp, hostKey: 'MD5:1f' } } }],
  ])('refuses %s', (_, settings) => {
    expect(takes(settings)).toBe(false);
  });
});
