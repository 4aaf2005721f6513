import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClockDifference, findOffset } from '../../../src/transports/http/peer-clocks.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { createS3Client } from '../../../src/transports/s3/client.js';
import { bucketName, large, text, useS3Server } from '../../support/s3-server.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const server = useS3Server();

/** As for Amazon, the configuration has no endpoint. */
function openAsAmazon(url: string) {
  process.env.AWS_ENDPOINT_URL_S3 = url;
  onTestFinished(() => {
    delete process.env.AWS_ENDPOINT_URL_S3;
  });
  const { endpoint: _, ...access } = server().access();
  return createAwsBucket(bucketName, { ...access, region: 'us-east-1' });
}

describe('a checksum that other servers refuse', () => {
  const checksumsOf = (key: string) =>
    server()
      .requests.filter(({ line }) => line.startsWith('PUT') && line.includes(key))
      .map(({ headers }) => headers['x-amz-checksum-crc32']);

  it('is sent to Amazon, which requires it for buckets with Object Lock', async () => {
    const key = randomUUID();
    const bucket = openAsAmazon(server().access().endpoint);
    await bucket.put(`${key}/small`, text('content'));
    await bucket.put(`${key}/large`, large('x'));
    expect(checksumsOf(key)).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^.{6}==$/)));
    expect((await server().read(`${key}/large`)).length).toBe(20_000_000);
  });

  it('is not sent to another server', async () => {
    const key = randomUUID();
    const bucket = createAwsBucket(bucketName, server().access());
    await bucket.put(`${key}/small`, text('content'));
    await bucket.put(`${key}/large`, large('x'));
    expect(checksumsOf(key)).toEqual(Array.from({ length: 4 }, () => undefined));
    const headers = server().requests.filter(({ line }) => line.includes(key));
    expect(JSON.stringify(headers)).not.toMatch(/trailer|aws-chunked/);
  });
});

it('tells with each answer what time it is there', async () => {
  const differences: (ClockDifference | undefined)[] = [];
  const peerClock = {
    clock: () => Date.now() + 3_600_000,
    note: (found?: ClockDifference) => differences.push(found),
  };
  const bucket = createAwsBucket(bucketName, { ...server().access(), peerClock });
  expect(await bucket.find(randomUUID())).toBeUndefined();
  await bucket.list('');
  expect(differences.map((found) => found && Math.round(findOffset(found) / 60_000))).toEqual([-60, -60]);
});

describe('a server', () => {
  it.each([
    ['https://s3.eu-central-1.amazonaws.com', 'WHEN_SUPPORTED'],
    ['https://vpce-1.s3.eu-central-1.vpce.amazonaws.com', 'WHEN_SUPPORTED'],
    ['https://s3.cn-north-1.amazonaws.com.cn', 'WHEN_SUPPORTED'],
    ['https://amazonaws.com.example.org', 'WHEN_REQUIRED'],
    ['https://notamazonaws.com', 'WHEN_REQUIRED'],
  ])("is recognised as Amazon's by its name: %s", async (endpoint, checksums) => {
    expect(await createS3Client({ endpoint }).config.requestChecksumCalculation()).toBe(checksums);
  });
});

it('is reached with the key of a profile, found as Amazon’s own tools find it, and with none fails', async () => {
  const folder = makeTemporaryFolder();
  const profile = join(folder, 'credentials');
  writeFileSync(profile, '[default]\naws_access_key_id = S3RVER\naws_secret_access_key = of-the-profile\n');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', profile);
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const { endpoint } = server().access();
  expect(await createAwsBucket(bucketName, { endpoint }).list('nothing/')).toEqual([]);
  expect(server().requests.at(-1)?.headers.authorization).toContain('Credential=S3RVER/');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
  await expect(createAwsBucket(bucketName, { endpoint }).list('nothing/')).rejects.toMatchObject({
    message: expect.stringContaining('CredentialsProviderError'),
  });
});

it('is asked in the region and the session that are set', async () => {
  const session = { region: 'eu-south-2', sessionToken: 'of-the-session' };
  await createAwsBucket(bucketName, { ...server().access(), ...session }).list('nothing/');
  expect(server().requests.at(-1)?.headers).toMatchObject({
    authorization: expect.stringContaining('/eu-south-2/s3/'),
    'x-amz-security-token': 'of-the-session',
  });
});

describe('an endpoint of the environment', () => {
  it('is not called over plain http, except on this machine', async () => {
    await expect(openAsAmazon('http://storage.invalid').put('x', text('x'))).rejects.toMatchObject({
      fault: 'failed',
      message: expect.stringContaining('plain http:// is allowed for this machine only'),
    });
    await expect(openAsAmazon('https://storage.invalid').list('x')).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    });
    expect(await openAsAmazon(server().access().endpoint).list('nothing/')).toEqual([]);
  });
});
