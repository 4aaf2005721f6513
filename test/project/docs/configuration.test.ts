import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { commonSettings } from '../../../docs/common-settings.js';
import { renderConfigurationPage } from '../../../docs/generate.js';
import { settingsSchema } from '../../../src/config/schema.js';
import { listLeaves, type SchemaNode } from '../size/settings.js';

it('The page of settings is the one that the schema gives; `npm run docs` writes it', async () => {
  const page = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(renderConfigurationPage());
});

it('The page begins with 25 settings', () => {
  expect(commonSettings).toHaveLength(25);
  expect(new Set(commonSettings.map(({ path }) => path)).size).toBe(25);
});

it.each(commonSettings)(
  'The example of $path is one line that sets it, and passes the schema',
  ({ path, example }) => {
    const needed = {
      service: { baseUrl: 'https://service.example.com/api/3.0', apiKey: 'k', accountId: 'a' },
      source: { kind: 'csv', path: '{day}.csv' },
      file: { sftp: { host: 'h', username: 'u', password: 'p', hostKey: `SHA256:${'a'.repeat(43)}` } },
    };
    const written = parseYaml(example) as Readonly<Record<string, object | string | number>>;
    expect(example).not.toContain('\n');
    expect(path.split('.').reduce<unknown>((group, name) => Object(group)[name], written)).toBeDefined();
    const [[name, value] = ['', '']] = Object.entries(written);
    const merged = { ...needed, [name]: mergeInto((needed as Record<string, unknown>)[name], value) };
    expect(settingsSchema.safeParse(merged).error?.issues).toBeUndefined();
  },
);

function mergeInto(group: unknown, value: unknown): unknown {
  const isPlain = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one);
  return isPlain(group) && isPlain(value) ? { ...(group as object), ...(value as object) } : value;
}

it('There are at most 142 settings, on a page of at most 4,500 words', async () => {
  const schema = await readFile(new URL('../../../schema/1.json', import.meta.url), 'utf8');
  expect(listLeaves(JSON.parse(schema) as SchemaNode).size).toBeLessThanOrEqual(142);
  expect(renderConfigurationPage().match(/\S*[\p{L}\p{N}]\S*/gu)?.length).toBeLessThanOrEqual(4_500);
});
