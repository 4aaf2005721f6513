import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../support/compose-file.js';

const page = projectFile('docs/architecture.md');
const [, diagram = ''] = /```mermaid\nflowchart TB\n([\s\S]*?)```/.exec(page) ?? [];
const text = page.replace(/```[\s\S]*?```/g, '');

const root = new URL('../../', import.meta.url);
const roots = ['src', 'jobs', 'test', 'docs', 'ops', '.ci'];
const existing = new Set([
  ...readdirSync(root),
  ...roots.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  ),
]);

/** The files and folders that a text names by their whole path. */
function listPaths(markdown: string): string[] {
  return [...markdown.matchAll(/`((?:src|jobs|test|docs|ops|\.ci)(?:\/[\w.-]+)*)`/g)].map(
    ([, path = '']) => path,
  );
}

it('The page about architecture names files and folders that exist', () => {
  const paths = listPaths(page);
  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existing.has(path))).toEqual([]);
});

it('It names a file by its name alone where the same row names its folder, or a file in it', () => {
  let checked = 0;
  for (const part of page.split(/\n\n|\n(?=\||- )/)) {
    const folders = listPaths(part).map((path) => (/\.\w+$/.test(path) ? dirname(path) : path));
    const files = [...existing].filter(
      (path) => !path.includes('/') || folders.some((folder) => path.startsWith(`${folder}/`)),
    );
    const names = new Set(files.map((path) => basename(path)));
    for (const [, name = ''] of part.matchAll(/`([\w-]+\.(?:ts|js))`/g)) {
      checked += 1;
      expect(names.has(name), `${name} in "${part.slice(0, 60)}"`).toBe(true);
    }
  }
  expect(checked).toBeGreaterThan(2);
});

it('It has every folder of src, in the diagram and in the text', () => {
  const folders = readdirSync(new URL('src/', root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  for (const folder of folders) {
    expect(text).toContain(`\`src/${folder}`);
    expect(diagram).toMatch(new RegExp(`[^\\w-]${folder}[^\\w-]`));
  }
});

it('It draws the layers in the order that is checked', () => {
  const { layers }: { layers: readonly (readonly string[])[] } = JSON.parse(projectFile('src/layers.json'));
  const heights = new Map(layers.flatMap((names, height) => names.map((name) => [name, height])));
  const drawn = [...diagram.matchAll(/\["<b>(.+?)<\/b>/g)]
    .map(([, names = '']) => names.split(' · ').flatMap((name) => heights.get(name) ?? []))
    .filter((floor) => floor.length > 0);
  expect(drawn.length).toBeGreaterThan(5);
  for (const [index, floor] of drawn.slice(1).entries())
    expect(Math.max(...floor)).toBeLessThan(Math.min(...(drawn[index] ?? [])));
});

it('Each room has a page of at most twelve lines, which names files and folders that it has', () => {
  for (const folder of readdirSync(new URL('src/', root), { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    const text = projectFile(`src/${folder.name}/README.md`);
    expect(text.trimEnd().split('\n').length, folder.name).toBeLessThanOrEqual(12);
    const named = [...text.matchAll(/`([\w-]+\.ts|[\w-]+\/[\w-]+\.ts)`/g)].map(([, name = '']) => name);
    const missing = named.filter(
      (name) =>
        !existing.has(`src/${folder.name}/${name}`) && !existing.has(`src/${name}`) && !existing.has(name),
    );
    expect(missing, folder.name).toEqual([]);
  }
});
