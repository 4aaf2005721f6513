import { readdirSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { findKinds } from '../../../src/config/outline.js';
import { settingsSchema } from '../../../src/config/schema.js';
import { projectFile } from '../../support/compose-file.js';
import { pages } from './pages.js';

/** What each file of the program says, without the code around it. SQL names tables, and the sandbox is not configured. */
const said = ['src', 'jobs'].flatMap((top) =>
  readdirSync(new URL(`../../../${top}/`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(?:sandbox|ledger)\//.test(name))
    .flatMap((name) => {
      const path = `${top}/${name}`;
      return listTexts(parseSync(path, projectFile(path)).program).map((text) => ({ path, text }));
    }),
);
/** A text without a blank, or of nothing but paths, is no advice. */
const advice = said.filter(({ text }) => /\s/.test(text) && !/^(?:[a-z][\w*]*\.[\w.*]+\s?)+$/i.test(text));

function listTexts(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(listTexts);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value } = node as { readonly type?: string; readonly value?: unknown };
  if (type === 'Literal') return typeof value === 'string' ? [value] : [];
  if (type === 'TemplateElement') return [(value as { readonly cooked: string }).cooked];
  return Object.values(node).flatMap(listTexts);
}

const tops = Object.keys(settingsSchema.shape).join('|');
const path = new RegExp(`(?<![\\w./:@-])(?:${tops})(?:\\[\\])?(?:\\.[a-z]\\w*)+(?![\\w/(-])`, 'g');
const isFile = (found: string) => /\.(?:md|db|dump|csv|runs)$/.test(found);

/** Whether the schema knows a path, as far as it knows the names on it. */
function isSetting(found: string): boolean {
  const names = found.replaceAll('[]', '').split('.');
  return names.every((name, at) => {
    const groups = findKinds(names.slice(0, at));
    return groups.length === 0 || groups.some(({ shape }) => Object.hasOwn(shape, name));
  });
}

/** The names of all settings below a path. */
function listNames(below: readonly string[] = []): string[] {
  const names = new Set(findKinds(below).flatMap(({ shape }) => Object.keys(shape)));
  return [...names].flatMap((name) => [name, ...listNames([...below, name])]);
}

describe('a setting that is named exists', () => {
  it('in what the program says', () => {
    const named = advice.flatMap((one) =>
      [...one.text.matchAll(path)].map(([found]) => `${one.path}: ${found}`),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((one) => !isFile(one) && !isSetting(one.split(': ')[1] ?? ''))).toEqual([]);
  });

  it('by its last name alone', () => {
    const word = /(?<![\w./:@${-])[a-z]+(?:[A-Z][a-z\d]*)+(?![\w(])/g;
    const settings = new Set(listNames());
    const others = new Set(
      advice.flatMap(({ text }) =>
        [...text.matchAll(word)].flatMap(([name]) => (settings.has(name) ? [] : name)),
      ),
    );
    const ofPages = ['acceptVolume', 'checkInBefore', 'viewBox'];
    const written = ['isHeld', 'nNuU', 'startsWith'];
    expect(['getMappings', ...ofPages, ...written]).toEqual(expect.arrayContaining([...others]));
  });

  it('in the pages', () => {
    const named = [...pages, 'ops/prometheus/alerts.yml', 'SECURITY.md', 'CHANGELOG.md'].flatMap((page) =>
      [...projectFile(page).matchAll(path)].map(([found]) => found),
    );
    expect(named.filter((found) => !isFile(found) && !isSetting(found))).toEqual([]);
  });
});
