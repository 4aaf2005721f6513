import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'package-'));
afterAll(() => rmSync(folder, { recursive: true }));

const repository = 'https://git.example.org/acme/hotel-review';
const out = join(folder, 'package');
const pack = (...options: string[]) =>
  execFileSync(process.execPath, ['ops/pack.js', `--out=${out}`, ...options], {
    cwd: project,
    encoding: 'utf8',
  });

describe('ops/pack.js', () => {
  const said = pack(`--repository=${repository}`);
  const fileOf = (path: string) => readFileSync(join(out, path), 'utf8');
  const manifest = JSON.parse(fileOf('package.json'));
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  const code = files.filter((path) => path.endsWith('.js'));

  it('gives the package a package.json of its own, with the address that was named', () => {
    expect(said).not.toContain('Not to be published');
    expect(Object.keys(manifest)).not.toEqual(
      expect.arrayContaining(['private', 'scripts', 'devDependencies', 'overrides', 'files']),
    );
    expect(manifest).toMatchObject({
      homepage: `${repository}#readme`,
      repository: { type: 'git', url: `git+${repository}.git` },
      bugs: `${repository}/issues`,
    });
  });

  it('depends on what the bundle leaves outside, at the versions of the lock file, and has the licences of the rest', () => {
    const loaded = new Set(
      code
        .flatMap((path) => [
          ...fileOf(path).matchAll(
            /^(?:import|export) [^'"]*?from "([^."][^"]*)"|\bimport\("([^."][^"]*)"\)/gm,
          ),
        ])
        .map(([, fixed, onDemand]) => fixed ?? onDemand ?? '')
        .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)),
    );
    expect(Object.keys(manifest.dependencies).sort()).toEqual([...loaded].sort());
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(version).toBe(packages[`node_modules/${name}`].version);
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const licences = fileOf('THIRD-PARTY-LICENSES');
    for (const name of Object.keys(dependencies).filter((one) => !(one in manifest.dependencies)))
      expect(licences).toContain(`\n${name} ${packages[`node_modules/${name}`].version} (`);
  });

  it('holds what its package.json and its pages name; a link to anything else leads to the project', () => {
    const named = [
      manifest.types,
      manifest.bin['hotel-review'],
      manifest.exports['./schema/1.json'],
      'LICENSE',
    ];
    expect(named.filter((path) => !existsSync(join(out, path)))).toEqual([]);
    const missing = files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...fileOf(page).matchAll(/\]\(([^)\s#]+)/g)]
          .map(([, link = '']) => link)
          .filter((link) => !/^[a-z]+:/.test(link))
          .map((link) => posix.join(posix.dirname(page), link))
          .filter((path) => !existsSync(join(out, path))),
      );
    expect(missing).toEqual([]);
    expect(fileOf('README.md')).toContain(`](${repository}/blob/v${manifest.version}/CONTRIBUTING.md)`);
  });
});

it('Without an address, ops/pack.js says that the package is not to be published yet', () => {
  expect(pack()).toContain('Give the real one with --repository=URL');
});
