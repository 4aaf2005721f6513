import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { projectFile } from '../support/compose-file.js';

it('the page about security names tests that exist', () => {
  const page = projectFile('docs/privacy-and-security.md');
  const named = [...page.matchAll(/`((?:test|src)\/[^`]+\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
