import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { answerWith, bucketName, type Intercept, large, text, useS3Server } from '../../support/s3-server.js';

/** Peculiarities of Ceph's object gateway, OpenStack Swift and Amazon, as observed or documented. */
const server = useS3Server();
const open = () => createAwsBucket(bucketName, server().access());

function intercept(meant: Intercept): void {
  onTestFinished(() => server().intercept());
  server().intercept(meant);
}

const linesOf = (key: string) =>
  server()
    .requests.map(({ line }) => line)
    .filter((line) => line.includes(key));

describe('a server that honours conditions only for single puts', () => {
  it('keeps an object that another process put there during a multipart upload', async () => {
    const key = randomUUID();
    const put = open().put(
      key,
      large('x', () => server().put(key, 'theirs')),
    );
    expect(await put).toBe('taken');
    expect((await server().read(key)).toString()).toBe('theirs');
    const lines = linesOf(key);
    expect(lines.filter((line) => line.includes('partNumber='))).toHaveLength(3);
    expect(lines.filter((line) => /^POST .*uploadId=/.test(line))).toEqual([]);
    expect(lines.filter((line) => /^DELETE .*uploadId=/.test(line))).toHaveLength(1);
  });

  it('may have succeeded when the answer to the last call was lost', async () => {
    const key = randomUUID();
    let isLost = false;
    intercept((request, response) => {
      if (isLost || request.method !== 'POST' || !request.url?.includes('uploadId=')) return false;
      isLost = true;
      void server()
        .put(key, 'as it was put')
        .then(() => response.destroy());
      return true;
    });
    expect(await open().put(key, large('x'))).toBe('put');
    expect(linesOf(key).filter((line) => /^POST .*uploadId=/.test(line))).toHaveLength(2);
  });
});

it.each([
  ['small', text('content')],
  ['large', large('x')],
])('a %s object of another length than announced appears under no key', async (_what, content) => {
  const key = randomUUID();
  await expect(open().put(key, { ...content, bytes: content.bytes + 1 })).rejects.toMatchObject({
    name: 'S3Error',
  });
  expect(await open().find(key)).toBeUndefined();
});

it('a very large object has as many parts as a server takes', async () => {
  const sizes: number[] = [];
  intercept((request) => {
    if (request.url?.includes('partNumber=')) sizes.push(Number(request.headers['content-length']));
    return false;
  });
  const partBytes = 12 * 2 ** 20;
  // It ends early: 20 MB are sent.
  await expect(open().put(randomUUID(), { ...large('x'), bytes: 10_000 * partBytes })).rejects.toThrow();
  expect(sizes).toEqual([partBytes, 20e6 - partBytes]);
});

describe('a server without conditional writes', () => {
  const refuseConditions: Intercept = (request, response) =>
    request.headers['if-none-match'] !== undefined && answerWith(501, 'NotImplemented')(request, response);

  it('gets all of several concurrent objects before this is known', async () => {
    const folder = randomUUID();
    intercept(refuseConditions);
    const bucket = open();
    const keys = Array.from({ length: 8 }, (_, index) => `${folder}/${index}`);
    const puts = await Promise.all(keys.map((key) => bucket.put(key, text(key))));
    expect(new Set(puts)).toEqual(new Set(['put']));
    expect(await bucket.list(`${folder}/`)).toEqual(keys);
  });

  it('gets no further conditions', async () => {
    const folder = randomUUID();
    intercept(refuseConditions);
    const bucket = open();
    for (const name of ['first', 'second']) await bucket.put(`${folder}/${name}`, text(name));
    const puts = server().requests.filter(({ line }) => line.includes(folder));
    expect(puts.map(({ headers }) => headers['if-none-match'])).toEqual(['*', undefined, undefined]);
  });
});

describe('an upload that was aborted meanwhile', () => {
  it.each([
    ['as Amazon reports it', 'NoSuchUpload'],
    ['as Swift reports it', 'NoSuchKey'],
  ])('is no error when aborting it: %s', async (_, code) => {
    let ended = 0;
    intercept((request, response) => {
      if (request.method === 'DELETE') {
        ended += 1;
        return answerWith(404, code)(request, response);
      }
      const upload = '<Upload><Key>runs/a.csv</Key><UploadId>u</UploadId></Upload>';
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`<ListMultipartUploadsResult>${upload}${upload}</ListMultipartUploadsResult>`);
      return true;
    });
    await open().abandonUploads('runs/');
    expect(ended).toBe(2);
  });
});

describe('a key', () => {
  it('may have spaces, punctuation and letters of any script', async () => {
    const folder = `evidence of żółć ${randomUUID()}`;
    const names = ['a b+c&d=e%20.csv', '山田 😀.csv', "it's (1) *!~.csv", 'per%2Fcent', 'a,b;c:d@e$f', '-'];
    const bucket = open();
    for (const name of names) await bucket.put(`${folder}/${name}`, text(name));
    for (const name of names) {
      expect(await bucket.find(`${folder}/${name}`)).toEqual({});
    }
    expect(new Set(await bucket.list(`${folder}/`))).toEqual(
      new Set(names.map((name) => `${folder}/${name}`)),
    );
    for (const name of names) await bucket.remove(`${folder}/${name}`);
    expect(await bucket.list(`${folder}/`)).toEqual([]);
  });
});

describe('a server whose listing never ends', () => {
  it('is asked for a thousand pages', async () => {
    let pages = 0;
    intercept((request, response) => {
      if (!request.url?.includes('list-type=2')) return false;
      pages += 1;
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(
        `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${pages}</NextContinuationToken></ListBucketResult>`,
      );
      return true;
    });
    await expect(open().list('x/')).rejects.toMatchObject({ fault: 'failed', code: 'TooManyKeys' });
    expect(pages).toBe(1_000);
  });
});

describe('a server whose answers never end', () => {
  /** Sends as fast as the other side reads, until it disconnects. */
  function flood(status: number): { readonly sent: () => number } {
    let sent = 0;
    intercept((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/xml' });
      const block = Buffer.alloc(1_000_000, '<a>x</a>');
      const send = () => {
        while (!response.destroyed) {
          sent += block.length;
          if (!response.write(block)) break;
        }
      };
      response.on('drain', send).on('error', () => {});
      send();
      return true;
    });
    return { sent: () => sent };
  }

  it.each([
    ['an error', 403],
    ['a list', 200],
  ])('is cut off: %s', async (_what, status) => {
    const { sent } = flood(status);
    await expect(open().list('x/')).rejects.toThrow(/AnswerTooLong/);
    expect(sent()).toBeLessThan(100_000_000);
  });
});

describe('a server that says no more', () => {
  it.each<[string, Intercept]>([
    [
      'in the middle of a list',
      (_, response) => response.writeHead(200).write('<a>', () => response.destroy()),
    ],
    ['before its answer', () => true],
  ])('is unreachable: %s', async (_what, answer) => {
    intercept((request, response) => {
      request.resume();
      answer(request, response);
      return true;
    });
    const bucket = createAwsBucket(bucketName, { ...server().access(), silenceMs: 100 });
    await expect(bucket.list('x/')).rejects.toMatchObject({ fault: 'unreachable' });
  });
});
