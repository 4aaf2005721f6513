import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';

const project = fileURLToPath(new URL('../../', import.meta.url));
const files = ['Dockerfile', 'ops/docker/sftp/Dockerfile', 'docker-compose.yml'];

/** A registry that requires a token, as Docker Hub does. */
async function startRegistry({
  missing,
  claim,
}: {
  readonly missing?: string;
  readonly claim?: string;
} = {}) {
  const manifests = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams, origin } = new URL(request.url ?? '', `http://${request.headers.host}`);
    if (pathname === '/token') {
      response.end(JSON.stringify({ token: `for ${searchParams.get('scope')}` }));
      return;
    }
    const [, name = '', tag = ''] = /^\/v2\/library\/([\w-]+)\/manifests\/([\w.-]+)$/.exec(pathname) ?? [];
    const scope = `repository:library/${name}:pull`;
    if (request.headers.authorization !== `Bearer for ${scope}`) {
      const challenge = `Bearer realm="${origin}/token",service="registry",scope="${scope}"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    if (name === missing) {
      response.writeHead(404).end();
      return;
    }
    const manifest = JSON.stringify({ name, tag });
    manifests.set(`${name}:${tag}`, `sha256:${createHash('sha256').update(manifest).digest('hex')}`);
    if (claim !== undefined) response.setHeader('docker-content-digest', claim);
    response.end(manifest);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, manifests };
}

function copyFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'pin-images-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) cpSync(join(project, file), join(folder, file));
  const read = () => files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const pin = async (registry: string, ...options: string[]) => {
    const args = [join(project, 'ops/pin-images.js'), `--registry=${registry}`, ...options];
    const child = execFile(process.execPath, args, { cwd: folder });
    const [code] = await once(child, 'exit');
    return code;
  };
  return { read, pin };
}

describe('ops/pin-images.js', () => {
  it('adds the digests of the tags, and keeps everything else', async () => {
    const { url, manifests } = await startRegistry();
    const { read, pin } = copyFiles();
    const before = read();
    expect(await pin(url, '--check')).toBe(1);
    expect(read()).toEqual(before);
    expect(await pin(url)).toBe(0);
    const after = read();
    expect([...manifests.keys()].map((image) => image.split(':')[0]).sort()).toEqual([
      'debian',
      'node',
      'postgres',
      'redis',
    ]);
    const expected = before.map((text) =>
      [...manifests].reduce(
        (result, [image, digest]) => result.replaceAll(image, `${image}@${digest}`),
        text,
      ),
    );
    expect(after).toEqual(expected);
    const { services } = parseYaml(after[2] ?? '', { merge: true });
    expect(services.redis.image).toMatch(/^redis:[\w.-]+@sha256:[0-9a-f]{64}$/);
    expect(services.serve.image).not.toContain('@');
    // Once more changes nothing.
    expect(await pin(url, '--check')).toBe(0);
    expect(await pin(url)).toBe(0);
    expect(read()).toEqual(after);
  });

  it.each([
    ['has no such tag', { missing: 'redis' }],
    ['claims another digest', { claim: `sha256:${'0'.repeat(64)}` }],
  ])('changes nothing when the registry %s', async (_what, faults) => {
    const { url } = await startRegistry(faults);
    const { read, pin } = copyFiles();
    const before = read();
    expect(await pin(url)).toBe(1);
    expect(read()).toEqual(before);
  });

  it('changes nothing when no registry answers', async () => {
    const { read, pin } = copyFiles();
    const before = read();
    expect(await pin('http://127.0.0.1:9')).toBe(1);
    expect(read()).toEqual(before);
  });
});
