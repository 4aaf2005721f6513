import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../support/compose-file.js';
import { listAnchors, listLinks, pages } from './pages.js';

const linking = [...pages, 'CONTRIBUTING.md', 'SECURITY.md'];

/** The file of the project that a link leads to, and the heading in it. */
function resolve(page: string, link: string): readonly [file: string, anchor: string | undefined] {
  const [path = '', anchor] = link.split('#');
  return [path === '' ? page : posix.join(posix.dirname(page), path), anchor];
}

it.each(linking)('%s links to files and headings that exist', (page) => {
  for (const link of listLinks(page)) {
    const [file, anchor] = resolve(page, link);
    expect(existsSync(new URL(`../../../${file}`, import.meta.url)), link).toBe(true);
    if (anchor !== undefined) expect(listAnchors(file), link).toContain(anchor);
  }
});

it('README.md leads to every page', () => {
  const reached = new Set(['README.md']);
  for (const page of reached)
    for (const [file] of listLinks(page).map((link) => resolve(page, link)))
      if (pages.includes(file)) reached.add(file);
  expect([...reached].sort()).toEqual([...pages].sort());
});

it.each(linking)('%s names files and folders that exist', (page) => {
  const named = projectFile(page).matchAll(/`((?:src|jobs|test|docs|ops|bench|\.ci)(?:\/[\w.-]+)+)`/g);
  for (const [, path = ''] of named)
    if (!path.includes('NAME'))
      expect(existsSync(new URL(`../../../${path}`, import.meta.url)), path).toBe(true);
});
