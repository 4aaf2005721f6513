import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));

interface Advisory {
  readonly name: string;
  readonly severity: string;
}

/** A registry that knows these vulnerabilities, or none that answers. */
async function startRegistry(advisories: readonly Advisory[] | undefined) {
  let asked: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || advisories === undefined) {
      response.writeHead(request.method === 'POST' ? 405 : 404).end();
      return;
    }
    asked = Object.keys(JSON.parse(await text(request.pipe(createGunzip()))));
    const known = advisories.map(({ name, severity }, index) => {
      const advisory = { id: index + 1, url: 'https://advisories.example.com/1', title: 'a hole', severity };
      return [name, [{ ...advisory, vulnerable_versions: '*', cwe: [], cvss: { score: 0 } }]];
    });
    response.end(JSON.stringify(Object.fromEntries(known)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
}

async function audit(
  registry: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  // npm caches what it was told about a vulnerability.
  const cache = makeTemporaryFolder();
  const args = ['.ci/audit.js', `--registry=${registry}`, '--fetch-retries=0', `--cache=${cache}`];
  return new Promise((resolve) => {
    const env = { ...process.env, ...variables };
    const child = execFile(process.execPath, args, { cwd: project, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

describe('.ci/audit.js', () => {
  it('fails for a vulnerability of level high or critical in production', async () => {
    const registry = await startRegistry([
      { name: 'yaml', severity: 'high' },
      { name: 'croner', severity: 'critical' },
    ]);
    const { code, stdout, stderr } = await audit(registry.url);
    expect(registry.asked()).toContain('yaml');
    expect(code).toBe(1);
    expect(stdout).toContain('in production: 2, of which high or critical: 2');
    expect(stderr).toContain('high: yaml');
    expect(stderr).toContain('critical: croner');
  });

  it('passes with one of a lower level, or in development only', async () => {
    const registry = await startRegistry([
      { name: 'yaml', severity: 'moderate' },
      { name: 'fast-check', severity: 'critical' },
    ]);
    expect(await audit(registry.url)).toMatchObject({
      code: 0,
      stdout: 'Known vulnerabilities in production: 1, of which high or critical: 0\n',
    });
  });

  it('says that nothing is known if the registry gives no report, and passes unless REQUIRE_AUDIT=1', async () => {
    const { url } = await startRegistry(undefined);
    const passed = await audit(url, { REQUIRE_AUDIT: '' });
    expect(passed).toMatchObject({ code: 0, stderr: '' });
    expect(passed.stdout).toMatch(/^Vulnerabilities are unknown: 405 /);
    const refused = await audit(url, { REQUIRE_AUDIT: '1' });
    expect(refused).toMatchObject({ code: 1, stdout: passed.stdout });
    expect(refused.stderr).toContain('REQUIRE_AUDIT=1: name a registry');
  });
});
