import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../../dist/src/index.d.ts', import.meta.url));
const specifiers = /\bfrom\s+['"]([^'"]+)['"]|\bimport\(?\s*['"]([^'"]+)['"]/g;

/** The declarations reachable from the entry point, without comments, by file. */
function readReachable(file = entry, read = new Map<string, string>()): ReadonlyMap<string, string> {
  if (read.has(file)) return read;
  const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  read.set(file, code);
  for (const specifier of importsOf(code)) {
    if (specifier.startsWith('.'))
      readReachable(join(dirname(file), specifier.replace(/\.js$/, '.d.ts')), read);
  }
  return read;
}

function importsOf(code: string): string[] {
  return [...code.matchAll(specifiers)].map(([, from, imported]) => from ?? imported ?? '');
}

const reachable = new Map([...readReachable()].map(([file, code]) => [relative(dirname(entry), file), code]));

describe('the public types of the package', () => {
  it('are those of a bookings module', () => {
    expect([...reachable.keys()]).toContain('sources/module/bookings-module.d.ts');
    expect([...reachable.keys()].some((name) => name.startsWith('service/'))).toBe(false);
  });

  it.each([...reachable])('contain no any: %s', (_file, code) => {
    expect(code).not.toMatch(/\bany\b/);
  });

  it.each([...reachable])('need no other package and no Node types: %s', (_file, code) => {
    for (const specifier of importsOf(code)) expect(specifier).toMatch(/^\./);
    expect(code).not.toMatch(/\b(?:Buffer|NodeJS)\b|reference types/);
  });
});
