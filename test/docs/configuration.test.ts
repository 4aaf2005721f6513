import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderConfigurationPage } from '../../docs/generate.js';

it('The page of settings is the one that the schema gives; `npm run docs` writes it', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(renderConfigurationPage());
});
