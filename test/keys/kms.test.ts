import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { whileUnlocked } from '../../src/keys/day-keys.js';
import { createKeyFolder } from '../../src/keys/key-folder.js';
import { createKmsKeeper } from '../../src/keys/kms.js';
import { openTestKeys } from './test-keys.js';

const day = '2026-11-20';
const keyId = 'alias/hotel-review';

interface Call {
  readonly operation: string;
  readonly authorization: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Speaks the JSON protocol of KMS: what it encrypted it decrypts under the same key and context only. */
async function startKms() {
  const calls: Call[] = [];
  const known = new Map<string, { readonly plain: string; readonly under: string }>();
  let refuses = false;
  const server = createServer(async (request, response) => {
    const blocks: Buffer[] = [];
    for await (const block of request) blocks.push(block);
    const body = JSON.parse(Buffer.concat(blocks).toString());
    const operation = String(request.headers['x-amz-target']);
    calls.push({ operation, authorization: String(request.headers.authorization), body });
    const under = JSON.stringify([body.KeyId, body.EncryptionContext]);
    const answer = (status: number, content: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(content));
    };
    if (refuses) return answer(400, { __type: 'AccessDeniedException', message: 'no' });
    if (operation === 'TrentService.GenerateDataKey') {
      const plain = randomBytes(32).toString('base64');
      const blob = randomBytes(64).toString('base64');
      known.set(blob, { plain, under });
      return answer(200, { CiphertextBlob: blob, Plaintext: plain, KeyId: body.KeyId });
    }
    const found = known.get(body.CiphertextBlob);
    if (found?.under !== under) return answer(400, { __type: 'InvalidCiphertextException' });
    return answer(200, { Plaintext: found.plain, KeyId: body.KeyId });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    calls,
    known,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: () => {
      refuses = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let kms: Awaited<ReturnType<typeof startKms>>;
let root: string;
beforeEach(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id-of-the-test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-the-test');
  kms = await startKms();
  root = mkdtempSync(join(tmpdir(), 'kms-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await kms.close();
  rmSync(root, { recursive: true });
});

const openKeys = (changes: { readonly keyId?: string } = {}) =>
  createKeyFolder({ root, keeper: createKmsKeeper({ keyId, endpoint: kms.endpoint, ...changes }) });
const use = (keys = openKeys(), ofDay = day) => whileUnlocked(keys, () => keys.use(ofDay));

it('keeps the master key encrypted by KMS, and asks once per process', async () => {
  const keys = openKeys();
  const key = await use(keys);
  await use(keys, '2026-11-21');
  expect(kms.calls).toMatchObject([
    {
      operation: 'TrentService.GenerateDataKey',
      authorization: expect.stringContaining('id-of-the-test'),
      body: { KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: { purpose: 'hotel-review' } },
    },
  ]);
  const file = readFileSync(join(root, 'master-1.key'), 'utf8');
  for (const { plain } of kms.known.values()) expect(file).not.toContain(plain);

  const another = openKeys();
  expect(await use(another)).toEqual(key);
  await use(another, '2026-11-21');
  expect(kms.calls.map(({ operation }) => operation)).toEqual([
    'TrentService.GenerateDataKey',
    'TrentService.Decrypt',
  ]);
});

it('replaces a master key in plain text, and one of KMS, by a rotation', async () => {
  const plain = openTestKeys(root);
  const key = await use(plain);
  await openKeys().rotate();
  expect(readFileSync(join(root, 'master-2.key'), 'utf8')).toContain('"aws-kms"');
  expect(await use()).toEqual(key);
  await openKeys().rotate();
  expect(await use()).toEqual(key);
  const withoutKms = openTestKeys(root);
  await expect(use(withoutKms)).rejects.toMatchObject({
    code: 'unusable',
    message: expect.stringContaining('set keys.kms'),
  });
});

it('says what KMS refused, and nothing else', async () => {
  await use();
  await expect(use(openKeys({ keyId: 'alias/other' }))).rejects.toMatchObject({
    code: 'unusable',
    message: expect.stringMatching(/^AWS KMS could not decrypt master key .* \(InvalidCiphertextException\)/),
  });
  kms.refuse();
  await expect(use()).rejects.toMatchObject({
    code: 'unusable',
    message: expect.stringMatching(/\(AccessDeniedException\): check keys\.kms, the credentials/),
  });
});

it('is never sent to another machine in plain text', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', 'http://kms.example.com');
  const keys = createKeyFolder({ root, keeper: createKmsKeeper({ keyId, region: 'eu-central-1' }) });
  await expect(use(keys)).rejects.toMatchObject({ message: expect.stringContaining('plain http://') });
});
