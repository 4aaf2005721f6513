import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkArchiveBucket } from '../../src/checks/doctor/archive-bucket.js';
import { createAwsBucket, type S3Access } from '../../src/transports/s3/aws-bucket.js';
import { bucketName, s3Secrets, useS3Server } from '../support/s3-server.js';

const server = useS3Server();

const check = (key = 'evidence', access: S3Access = server().access(), bucket = bucketName) =>
  checkArchiveBucket({ root: { bucket, key }, open: async () => createAwsBucket(bucket, access) });

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

describe('the bucket of the archive', () => {
  it.each(['evidence', ''])(
    'is ok if an object can be put and removed, and none is left: %j',
    async (key) => {
      const before = await server().keys();
      const place = `s3://${bucketName}${key === '' ? '' : `/${key}`}`;
      expect(await check(key)).toEqual([
        {
          part: 'archive',
          verdict: 'ok',
          message: `an object was put to ${place}, listed and read back`,
        },
      ]);
      expect(await server().keys()).toEqual(before);
      expect(server().requests.some(({ line }) => /^PUT .*\.hotel-review-doctor-/.test(line))).toBe(true);
    },
  );

  it.each(['PUT', 'GET'])(
    'is wrong if %s is denied, and the finding names the required rights',
    async (method) => {
      const before = await server().keys();
      deny(method);
      const [finding] = await check();
      expect(finding).toMatchObject({
        verdict: 'wrong',
        message: expect.stringMatching(/AccessDenied/),
        advice: expect.stringMatching(/s3:PutObject/),
      });
      expect(JSON.stringify(finding)).not.toContain(s3Secrets[0]);
      server().intercept();
      expect(await server().keys()).toEqual(before);
    },
  );

  it('is wrong if nothing can be removed, and the finding names what is left', async () => {
    deny('DELETE');
    const findings = await check();
    const left = (await server().keys()).filter((key) => key.includes('doctor'));
    server().intercept();
    expect(findings).toMatchObject([
      { verdict: 'ok' },
      { verdict: 'wrong' },
      { verdict: 'warning', message: expect.stringContaining('.hotel-review-doctor-') },
    ]);
    expect(findings[2]?.message).toContain(left.at(-1));
    for (const key of left) await server().remove(key);
  });

  it('is wrong if it does not exist, or no server responds', async () => {
    expect(await check('x', server().access(), 'another-bucket')).toMatchObject([
      { verdict: 'wrong', message: expect.stringMatching(/NoSuchBucket/) },
    ]);
    const nobody = { ...server().access(), endpoint: 'http://127.0.0.1:9' };
    expect(await check('x', nobody)).toMatchObject([
      { verdict: 'wrong', message: expect.stringMatching(/ECONNREFUSED/) },
    ]);
  });
});
