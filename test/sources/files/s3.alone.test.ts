import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { SourceError, type SourceFault } from '../../../src/booking/source.js';
import { createS3DayFile } from '../../../src/sources/files/s3.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import type { S3Access } from '../../../src/transports/s3/client.js';
import { bucketName, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const never = () => new AbortController().signal;
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

  async function readAll(onBlock: (count: number) => void = () => {}, file = open(), signal = never()) {
    const blocks: Buffer[] = [];
    for await (const { bytes } of file.read(day, { blockBytes: 100_000, signal })) {
      blocks.push(bytes);
      onBlock(blocks.length);
    }
    return Buffer.concat(blocks);
  }

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

  it('is resumed if the server stops responding in the middle', async () => {
    await lay(bytes);
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    server().intercept(({ headers }, response) => {
      if (headers.range !== undefined) return false;
      response.writeHead(200, { 'content-length': bytes.length, etag });
      response.write(bytes.subarray(0, 1_000_000));
      return true;
    });
    const content = await readAll(undefined, open({ ...server().access(), silenceMs: 500 }));
    expect(hashOf(content)).toBe(hashOf(bytes));
    // On a busy machine the second answer may count as silence, too.
    expect(rangesAsked().slice(0, 2)).toEqual([undefined, 'bytes=1000000-']);
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
    await expectFault(reading, 'truncated', /connection was lost .* of 6000000 bytes/);
  });

  it.each([
    ['was replaced', () => lay(randomBytes(bytes.length))],
    ['was removed', () => server().remove(keyOfDay())],
  ])('is truncated if it %s meanwhile', async (_, change) => {
    await lay(bytes);
    let isChanged = false;
    server().intercept(({ headers }, response) => {
      // The connection is cut once the object has changed.
      if (headers.range === undefined || isChanged) return false;
      isChanged = true;
      void change().then(() => response.destroy());
      return true;
    });
    const reading = readAll((count) => {
      if (count === 10) proxy.cutAll();
    });
    await expectFault(reading, 'truncated', /changed while it was read/);
  });

  it('is an error if the server cannot resume in the middle', async () => {
    await lay(bytes);
    server().intercept((request) => {
      delete request.headers.range;
      return false;
    });
    const reading = readAll((count) => {
      if (count === 10) proxy.cutAll();
    });
    await expectFault(reading, 'unreadable', /NoRange|does not support reading from the middle/);
    await expect.poll(() => server().held()).toBe(0);
  });

  const denying = (code: string) => (_: unknown, response: ServerResponse) => {
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code><AWSAccessKeyId>${s3Secrets[0]}</AWSAccessKeyId></Error>`);
    return true;
  };

  it('that cannot be read fails with its reason, and neither the key nor the words of the server', async () => {
    const none = /there is no object s3:\/\/agency-bookings\/.*2026-11-20\.bin/;
    await expectFault(readAll(), 'missing', none);
    const elsewhere = createS3DayFile({
      bucket: 'another-bucket',
      key: '{day}',
      open: async () => createAwsBucket('another-bucket', server().access()),
    });
    const noBucket = /there is no such bucket; check its name.*NoSuchBucket/;
    await expectFault(readAll(undefined, elsewhere), 'unreadable', noBucket);
    const nobody = open({ ...server().access(), endpoint: 'http://127.0.0.1:9' });
    await expectFault(readAll(undefined, nobody), 'unreadable', /ECONNREFUSED/);
    server().intercept(denying('InvalidAccessKeyId'));
    await expectFault(readAll(), 'login-refused', /InvalidAccessKeyId/);
    server().intercept(denying('AccessDenied'));
    const perhaps = /\(AccessDenied\); without s3:ListBucket, S3 reports a missing object this way too/;
    await expectFault(readAll(), 'unreadable', perhaps);
  });

  it('is no longer requested once the signal aborts, even if the server does not respond', async () => {
    await lay(bytes);
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    server().intercept(() => {
      stopping.abort(reason);
      return true;
    });
    await expect(readAll(undefined, open(), stopping.signal)).rejects.toBe(reason);
  });

  it('of 200 MB is read in constant memory', async () => {
    const size = 200_000_000;
    const part = randomBytes(1_000_000);
    const bucket = createAwsBucket(bucketName, server().access());
    const put = await bucket.put(keyOfDay(), {
      async *open() {
        for (let done = 0; done < size; done += part.length) yield part;
      },
      bytes: size,
      metadata: {},
    });
    expect(put).toBe('put');
    const before = process.memoryUsage().rss;
    let most = 0;
    let done = 0;
    const file = open(server().access());
    for await (const block of file.read(day, { blockBytes: 128 * 1024, signal: never() })) {
      done += block.bytes.length;
      most = Math.max(most, process.memoryUsage().rss);
    }
    expect(done).toBe(size);
    expect(most - before).toBeLessThan(100_000_000);
    await server().remove(keyOfDay());
  });
});

async function expectFault(reading: Promise<unknown>, fault: SourceFault, message: RegExp): Promise<void> {
  const error = await reading.then(
    () => expect.fail('it was read'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SourceError)) throw error;
  expect(error.message).toMatch(message);
  expect(error.fault).toBe(fault);
  for (const secret of s3Secrets) expect(inspect(error, { depth: 10 })).not.toContain(secret);
}
