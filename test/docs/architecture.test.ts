import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectFile } from '../support/compose-file.js';

const page = projectFile('docs/architecture.md');
const [, diagram = '', text = ''] = /```mermaid\n([\s\S]*?)```([\s\S]*)/.exec(page) ?? [];

describe('docs/architecture.md', () => {
  it('names files and folders that exist', () => {
    const paths = [...page.matchAll(/`((?:src|jobs|test|\.ci)(?:\/[\w.-]+)*)`/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true);
  });

  it('lists every folder of src, in the diagram and in the table', () => {
    const folders = readdirSync(new URL('../../src/', import.meta.url), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    for (const folder of folders) {
      expect(text).toContain(`\`src/${folder}\``);
      // The checks for users' own sources are no part of the job.
      if (folder !== 'testing') expect(diagram).toMatch(new RegExp(`[^\\w-]${folder}[^\\w-]`));
    }
  });

  it('draws the layers in the order that is checked', () => {
    const { layers }: { layers: readonly (readonly string[])[] } = JSON.parse(projectFile('src/layers.json'));
    const heights = new Map(layers.flatMap((names, height) => names.map((name) => [name, height])));
    const drawn = [...diagram.matchAll(/\["<b>(.+?)<\/b>/g)]
      .map(([, names = '']) => names.split(' · ').flatMap((name) => heights.get(name) ?? []))
      .filter((floor) => floor.length > 0);
    expect(drawn.length).toBeGreaterThan(5);
    for (const [index, floor] of drawn.slice(1).entries())
      expect(Math.max(...floor)).toBeLessThan(Math.min(...(drawn[index] ?? [])));
  });
});
