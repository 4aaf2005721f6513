import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { archive, bucket } from '../../../src/checks/doctor/archive.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createS3Archive } from '../../../src/storage/s3-archive.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import type { S3Access } from '../../../src/transports/s3/client.js';
import { bucketName, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

describe('the bucket of the archive', () => {
  const server = useS3Server();

  async function check(key = 'evidence', access: S3Access = server().access(), name = bucketName) {
    const opened = createS3Archive({
      root: { bucket: name, key },
      account: 'a',
      open: async () => createAwsBucket(name, access),
      temporaryFolder: makeTemporaryFolder(),
    });
    const found = await look(bucket, makeApp({ archive: `s3://${name}` }, { archive: () => opened }));
    expect(JSON.stringify(found)).not.toContain(s3Secrets[0]);
    return found;
  }

  function deny(method: string): void {
    onTestFinished(() => server().intercept());
    server().intercept((request, response) => {
      if (request.method !== method) return false;
      void once(request.resume(), 'end').then(() => {
        response.writeHead(403, { 'content-type': 'application/xml' });
        response.end(`<Error><Code>AccessDenied</Code><Message>${s3Secrets[0]}</Message></Error>`);
      });
      return true;
    });
  }

  it.each(['evidence', ''])(
    'is ok if an object can be put and removed, and none is left: %j',
    async (key) => {
      const before = await server().keys();
      const place = `s3://${bucketName}${key === '' ? '' : `/${key}`}`;
      expect(lines(await check(key))).toEqual([
        `ok archive: an object was put to ${place}, listed and read back`,
      ]);
      expect(await server().keys()).toEqual(before);
      expect(server().requests.some(({ line }) => /^PUT .*reports\/doctor-/.test(line))).toBe(true);
    },
  );

  it.each(['PUT', 'GET', 'DELETE'])(
    'is wrong if %s is denied: the rights and what is left are named',
    async (method) => {
      const before = await server().keys();
      deny(method);
      const findings = await check();
      server().intercept();
      expect(findings).toMatchObject([
        {
          verdict: 'wrong',
          message: expect.stringMatching(/AccessDenied/),
          advice: expect.stringMatching(/s3:PutObject/),
        },
      ]);
      const left = (await server().keys()).filter((key) => !before.includes(key));
      expect(left).toHaveLength(method === 'DELETE' ? 1 : 0);
      for (const key of left) {
        expect(findings[0]?.message).toContain(key);
        await server().remove(key);
      }
    },
  );

  it('is wrong if it does not exist, or no server responds', async () => {
    expect(lines(await check('x', server().access(), 'another-bucket'))).toEqual([
      expect.stringMatching(/^wrong archive: .*NoSuchBucket/),
    ]);
    const nobody = { ...server().access(), endpoint: 'http://127.0.0.1:9' };
    expect(lines(await check('x', nobody))).toEqual([
      expect.stringMatching(/^wrong archive: .*ECONNREFUSED/),
    ]);
  });
});

it('the archive is beside the ledger; doctor names what no ledger knows, and says whose it is', async () => {
  const root = makeTemporaryFolder();
  const ours = createDirectoryArchive({ root, account: 'ours' });
  const say = async () => lines(await look(archive, makeApp({ archive: root }, { archive: () => ours })));
  const fits = `ok archive: ${root} belongs to this ledger, or to none yet`;
  expect(await say()).toEqual([fits]);
  async function* bytes() {
    yield Buffer.from('x');
  }
  await ours.store('2026-11-20', '20261120-run1', 'file.csv', bytes());
  expect(await say()).toEqual([
    fits,
    expect.stringMatching(/^warning archive: .*\n.*20261120-run1: file.csv$/),
  ]);
  const findLedger = () => Promise.reject(new Error('unusable'));
  expect(await look(archive, makeApp({}, { archive: () => ours, findLedger }))).toEqual([]);
});

it('what the archive holds without a mark of an account is to be removed by hand', async () => {
  const root = makeTemporaryFolder();
  const ours = createDirectoryArchive({ root, account: 'ours' });
  const folder = join(root, '2026-11-20', 'old');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '20112026.csv'), '');
  const found = await look(archive, makeApp({ archive: root }, { archive: () => ours }));
  expect(found).toMatchObject([
    { verdict: 'ok' },
    { verdict: 'warning', advice: expect.stringMatching(/remove them yourself/) },
  ]);
});
