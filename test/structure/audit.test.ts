import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';

const project = fileURLToPath(new URL('../../', import.meta.url));

interface Advisory {
  readonly name: string;
  readonly severity: string;
}

/** A registry that knows these vulnerabilities. */
async function startRegistry(advisories: readonly Advisory[]) {
  let asked: string[] = [];
  const server = createServer(async (request, response) => {
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

async function audit(registry: string): Promise<{ code: number; stdout: string; stderr: string }> {
  // npm caches what it was told about a vulnerability.
  const cache = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const args = ['.ci/audit.js', `--registry=${registry}`, '--fetch-retries=0', `--cache=${cache}`];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: project }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

it('.ci/audit.js fails for a severe vulnerability in production, and for no other', async () => {
  const registry = await startRegistry([
    { name: 'yaml', severity: 'high' },
    { name: 'zod', severity: 'moderate' },
    { name: 'fast-check', severity: 'critical' },
  ]);
  const { code, stdout, stderr } = await audit(registry.url);
  expect(registry.asked()).toContain('yaml');
  expect(code).toBe(1);
  expect(stdout).toContain('in production: 2, of which high or critical: 1');
  expect(stderr).toContain('high: yaml');
  expect((await audit((await startRegistry([])).url)).code).toBe(0);
});
