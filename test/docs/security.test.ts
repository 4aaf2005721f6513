import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the page about security names tests that exist', () => {
  const page = readFileSync('docs/security.md', 'utf8');
  const named = [...page.matchAll(/`((?:test|src)\/[^`]+\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
