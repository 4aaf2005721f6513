import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createS3DayFile } from '../../../src/sources/files/remote-day-files.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import type { S3Access } from '../../../src/transports/s3/client.js';
import { answerWith, bucketName, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { day, expectFault, readFile } from '../reading.js';

const server = useS3Server();
const bytes = randomBytes(6_000_000);
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

describe('the object of a day', () => {
  let folder = '';
  let proxy: TcpProxy;
  beforeEach(async () => {
    folder = randomUUID();
    proxy = await startTcpProxy(server().port);
    onTestFinished(async () => {
      server().intercept();
      await proxy.stop();
    });
  });

  const keyOfDay = () => `${folder}/2026-11-20.bin`;
  const lay = (content: Uint8Array) => server().put(keyOfDay(), content);
  const open = (access: S3Access = server().access(proxy.port)) =>
    createS3DayFile({
      bucket: bucketName,
      key: `${folder}/{day}.bin`,
      open: async () => createAwsBucket(bucketName, access),
    });

  const readAll = (onBlock?: (count: number) => void, file = open()) => readFile(file, onBlock);

  const rangesAsked = () =>
    server()
      .requests.filter(({ line }) => line.includes(folder) && line.startsWith('GET'))
      .map(({ headers }) => headers.range);

  it('is resumed after its connection is cut, and must be the same object', async () => {
    await lay(bytes);
    const content = await readAll((count) => {
      if (count === 10 || count === 30) proxy.cutAll();
    });
    expect(hashOf(content)).toBe(hashOf(bytes));
    expect(await open().measure(day)).toBeUndefined();
    const [first, ...others] = rangesAsked();
    expect(first).toBeUndefined();
    expect(others).toHaveLength(2);
    for (const range of others) expect(range).toMatch(/^bytes=[1-9]\d+-$/);
    const resumed = server().requests.findLast(({ headers }) => headers.range !== undefined);
    expect(resumed?.headers['if-match']).toMatch(/^"[\da-f]{32}"$/);
  });

  it('is truncated if the server does not come back', async () => {
    await lay(bytes);
    const reading = readAll((count) => {
      if (count !== 10) return;
      server().intercept((request) => {
        request.socket.destroy();
        return true;
      });
      proxy.cutAll();
    });
    await expectFault(reading, 'truncated', /connection was lost .* of 6000000 bytes/, s3Secrets);
  });

  it('is truncated if it was replaced meanwhile', async () => {
    await lay(bytes);
    let isChanged = false;
    server().intercept(({ headers }, response) => {
      // The connection is cut once the object has changed.
      if (headers.range === undefined || isChanged) return false;
      isChanged = true;
      void lay(randomBytes(bytes.length)).then(() => response.destroy());
      return true;
    });
    const reading = readAll((count) => {
      if (count === 10) proxy.cutAll();
    });
    await expectFault(reading, 'truncated', /changed while it was read/, s3Secrets);
  });

  const denying = (code: string) =>
    answerWith(403, code, { more: `<AWSAccessKeyId>${s3Secrets[0]}</AWSAccessKeyId>` });

  it('that cannot be read fails with its reason, and neither the key nor the words of the server', async () => {
    const none = /there is no object s3:\/\/agency-bookings\/.*2026-11-20\.bin/;
    await expectFault(readAll(), 'missing', none, s3Secrets);
    const elsewhere = createS3DayFile({
      bucket: 'another-bucket',
      key: '{day}',
      open: async () => createAwsBucket('another-bucket', server().access()),
    });
    const noBucket = /there is no such bucket; check its name.*NoSuchBucket/;
    await expectFault(readAll(undefined, elsewhere), 'unreadable', noBucket, s3Secrets);
    const nobody = open({ ...server().access(), endpoint: 'http://127.0.0.1:9' });
    await expectFault(readAll(undefined, nobody), 'unreadable', /ECONNREFUSED/, s3Secrets);
    server().intercept(denying('InvalidAccessKeyId'));
    await expectFault(readAll(), 'login-refused', /InvalidAccessKeyId/, s3Secrets);
    server().intercept(denying('RequestTimeTooSkewed'));
    await expectFault(readAll(), 'unreadable', /clock and the server's are too far apart/, s3Secrets);
    server().intercept(denying('AccessDenied'));
    const perhaps = /\(AccessDenied\); without s3:ListBucket, S3 reports a missing object this way too/;
    await expectFault(readAll(), 'unreadable', perhaps, s3Secrets);
  });
});
