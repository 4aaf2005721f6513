import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const script = join(project, 'ops/sbom.js');
const { isAllowed } = (await import(script)) as { isAllowed(expression: string): boolean };

describe('ops/sbom.js', () => {
  it('lists every package of the product, all with allowed licences', () => {
    const folder = makeTemporaryFolder();
    // It fails for a licence that is not allowed.
    execFileSync(process.execPath, [script, `--out=${folder}`], { cwd: project, stdio: 'pipe' });
    const sbom = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'));
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'hotel-review' } },
    });
    const listed: string[] = sbom.components.map(
      ({ name, version }: { name: string; version: string }) => `${name}@${version}`,
    );
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    const installed = Object.entries<{ version: string; dev?: boolean }>(packages)
      .filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(project, path)))
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
    expect([...new Set(listed)].sort()).toEqual([...new Set(installed)].sort());
    const lines = readFileSync(join(folder, 'licences.txt'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => line.split('  ')[0]).sort()).toEqual([...listed].sort());
  });

  it.each([
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND ISC', true],
    ['GPL-2.0-only AND (MIT OR GPL-3.0-only)', false],
    ['SEE LICENSE IN LICENSE.md', false],
  ])('judges %s', (expression, verdict) => {
    expect(isAllowed(expression)).toBe(verdict);
  });
});
