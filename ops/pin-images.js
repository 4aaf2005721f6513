import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { argv, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';

/**
 * Adds the digests that the registry currently has for the tags of the base images, so that every build starts from the same
 * bytes. Changes nothing unless the registry answers for all of them.
 *
 *   npm run pin-images                                           Docker Hub
 *   npm run pin-images -- --registry=https://mirror.example.com  a mirror of it
 *   npm run pin-images -- --check                                changes nothing; fails if a digest is missing or differs
 */
const files = ['Dockerfile', 'ops/docker/sftp/Dockerfile', 'docker-compose.yml'];
/** Images with a tag. Build stages have none, and this project's own images are built here. */
const reference = /^(FROM |\s+image: )((?!booked-)[\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?/gm;
/** An index of all architectures is preferred to a single one's manifest. */
const kinds = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const timeoutMs = 20_000;

/** @returns the digest of a tag's manifest, calculated from its bytes */
async function fetchDigest(registry, image) {
  const [name, tag] = image.split(':');
  const url = `${registry}/v2/${name.includes('/') ? name : `library/${name}`}/manifests/${tag}`;
  const ask = (headers) =>
    fetch(url, { headers: { accept: kinds, ...headers }, signal: AbortSignal.timeout(timeoutMs) });
  let response = await ask({});
  if (response.status === 401) {
    const token = await fetchToken(response.headers.get('www-authenticate') ?? '');
    response = await ask({ authorization: `Bearer ${token}` });
  }
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const digest = `sha256:${createHash('sha256')
    .update(new Uint8Array(await response.arrayBuffer()))
    .digest('hex')}`;
  const claimed = response.headers.get('docker-content-digest') ?? digest;
  if (claimed !== digest) throw new Error('the manifest does not have the digest that the registry claims');
  return digest;
}

/** @param challenge such as `Bearer realm="https://…",service="…",scope="…"`; anybody gets a token for reading */
async function fetchToken(challenge) {
  const { realm, ...rest } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  if (realm === undefined) throw new Error('HTTP 401');
  const response = await fetch(`${realm}?${new URLSearchParams(rest)}`, {
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`no token (HTTP ${response.status})`);
  const { token, access_token } = await response.json();
  return token ?? access_token;
}

const { registry, check } = parseArgs({
  args: argv.slice(2),
  options: {
    registry: { type: 'string', default: 'https://registry-1.docker.io' },
    check: { type: 'boolean', default: false },
  },
}).values;
const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const images = new Set(
  texts.flatMap(({ text }) => [...text.matchAll(reference)].map(([, , image]) => image)),
);
const digests = new Map();
for (const image of images) {
  try {
    digests.set(image, await fetchDigest(registry, image));
  } catch (error) {
    const reason = error.cause?.code ?? error.message;
    stderr.write(`${image}: the registry gives no digest (${reason})\n`);
    process.exitCode = 1;
  }
}
if (digests.size < images.size) stderr.write('No file was changed.\n');
else {
  for (const { file, text } of texts) {
    const pinned = text.replace(
      reference,
      (_written, before, image) => `${before}${image}@${digests.get(image)}`,
    );
    if (pinned === text) continue;
    stdout.write(`${file}: ${check ? 'other digests than in the registry' : 'pinned'}\n`);
    if (check) process.exitCode = 1;
    else writeFileSync(file, pinned);
  }
}
