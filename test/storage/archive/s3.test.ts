import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toBlocks } from '../../../src/storage/archive.js';
import { createS3Archive } from '../../../src/storage/s3-archive.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import type { S3Access } from '../../../src/transports/s3/client.js';
import { describeArchiveContract } from '../../contracts/archive.js';
import { answerWith, bucketName, type Intercept, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const day = '2026-11-20';
const run = '20261120-aaaa';
const guest = 'Ann Guest-Canary';
const server = useS3Server();

function open(key: string = randomUUID(), access: S3Access = server().access()) {
  const temporaryFolder = makeTemporaryFolder();
  onTestFinished(() => server().intercept());
  const openFor = (account: string) =>
    createS3Archive({
      root: { bucket: bucketName, key },
      account,
      open: async () => createAwsBucket(bucketName, access),
      temporaryFolder,
    });
  return {
    archive: openFor('an-account'),
    ofOtherAccount: openFor('other-account'),
    temporaryFolder,
    root: key,
  };
}

describeArchiveContract('the archive in a bucket', { create: async () => open() });

describe('the archive in a bucket', () => {
  it.each(['evidence/of the agency', ''])(
    'keeps each file under the key of its run, with its checksum: in "%s"',
    async (root) => {
      const { archive } = open(root);
      const folder = [root, day, run].filter(Boolean).join('/');
      expect(archive.locate(day, run)).toBe(`s3://${bucketName}/${folder}`);
      await archive.store(day, run, '20112026.csv', toBlocks('content'));
      const key = `${folder}/20112026.csv`;
      expect((await server().read(key)).toString()).toBe('content');
      expect(await server().metadataOf(key)).toEqual({ sha256: sha256Of('content') });
    },
  );

  it('sends a file again only if it is not there', async () => {
    const { archive } = open();
    await archive.store(day, run, 'file.csv', toBlocks('the same'));
    const before = countRequests('PUT');
    await archive.store(day, run, 'file.csv', toBlocks('the same'));
    await expect(archive.store(day, run, 'file.csv', toBlocks('other'))).rejects.toMatchObject({
      code: 'different-content',
    });
    expect(countRequests('PUT')).toBe(before);
  });

  it('compares the bytes of an object without checksum', async () => {
    const { archive, root } = open();
    await server().put(`${root}/${day}/${run}/file.csv`, 'put by hand');
    await archive.store(day, run, 'file.csv', toBlocks('put by hand'));
    await expect(archive.store(day, run, 'file.csv', toBlocks('put by mind'))).rejects.toMatchObject({
      code: 'different-content',
    });
  });

  it('writes only if there is no object yet', async () => {
    const { archive } = open();
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    const put = server().requests.findLast(({ line }) => line.startsWith('PUT'));
    expect(put?.headers['if-none-match']).toBe('*');
  });

  it('marks a folder again if that was refused before', async () => {
    const { archive } = open();
    server().intercept(refuse('PUT', 'AccessDenied', (url) => url.includes('.account-')));
    const store = () => archive.store(day, run, 'file.csv', toBlocks('x'));
    await expect(store()).rejects.toMatchObject({ code: 'unwritable' });
    server().intercept();
    await store();
    expect(await archive.listFolders()).toEqual([
      { day, runId: run, account: 'an-account', names: ['file.csv'] },
    ]);
  });

  it.each([
    ['the same bytes', 'mine', 412, 'PreconditionFailed'],
    ['other bytes', 'theirs', 412, 'PreconditionFailed'],
    ['other bytes at the same moment', 'theirs', 409, 'ConditionalRequestConflict'],
  ])('checks again when another process was faster, with %s', async (_, theirs, status, conflict) => {
    const { archive, root } = open();
    const key = `${root}/${day}/${run}/file.csv`;
    let isDone = false;
    server().intercept((request, response) => {
      if (isDone || request.method !== 'PUT' || !request.url?.includes('file.csv')) return false;
      isDone = true;
      void server()
        .put(key, theirs)
        .then(() => answerWith(status, conflict)(request, response));
      return true;
    });
    const kept = archive.store(day, run, 'file.csv', toBlocks('mine'));
    if (theirs === 'mine') expect(await kept).toMatchObject({ sha256: sha256Of('mine') });
    else await expect(kept).rejects.toMatchObject({ code: 'different-content' });
    expect((await server().read(key)).toString()).toBe(theirs);
  });

  it('does not count as kept what another process has not finished', async () => {
    const { archive } = open();
    const taken = answerWith(412, 'PreconditionFailed');
    server().intercept(
      (request, response) =>
        request.method === 'PUT' && request.url?.includes('file.csv') === true && taken(request, response),
    );
    await expect(archive.store(day, run, 'file.csv', toBlocks('mine'))).rejects.toMatchObject({
      code: 'unwritable',
      message: expect.stringContaining('is being written by another process'),
    });
  });

  it('uploads a large file in parts, and keeps nothing when the last one fails', async () => {
    const { archive, temporaryFolder, root } = open();
    const part = Buffer.alloc(1024 * 1024, 'x');
    async function* large() {
      for (let count = 0; count < 20; count += 1) yield part;
    }
    server().intercept(refuse('PUT', 'AccessDenied', (url) => url.includes('partNumber=3')));
    await expect(archive.store(day, run, 'large.bin', large())).rejects.toMatchObject({
      code: 'unwritable',
      message: expect.stringContaining('(AccessDenied)'),
    });
    server().intercept();
    expect(await archive.list(day, run)).toEqual([]);
    expect(server().requests.some(({ line }) => /^DELETE .*uploadId=/.test(line))).toBe(true);
    expect(await archive.store(day, run, 'large.bin', large())).toMatchObject({ bytes: 20 * part.length });
    expect(countRequests('PUT')).toBeGreaterThan(3);
    expect(await server().metadataOf(`${root}/${day}/${run}/large.bin`)).toHaveProperty('sha256');
    expect(readdirSync(temporaryFolder)).toEqual([]);
  });

  it('aborts only the uploads of its run that a killed process left', async () => {
    const { archive, root } = open();
    const prefix = `${root}/${day}/${run}/`;
    const ended: string[] = [];
    server().intercept((request, response) => {
      const url = new URL(request.url ?? '', 'http://server');
      if (request.method === 'GET' && url.searchParams.has('uploads')) {
        expect(url.searchParams.get('prefix')).toBe(prefix);
        response.setHeader('content-type', 'application/xml');
        response.end(
          `<ListMultipartUploadsResult><Bucket>${bucketName}</Bucket>${[`${prefix}large.bin`, 'elsewhere/x']
            .map((key, index) => `<Upload><Key>${key}</Key><UploadId>upload-${index}</UploadId></Upload>`)
            .join('')}</ListMultipartUploadsResult>`,
        );
        return true;
      }
      if (request.method !== 'DELETE' || !url.searchParams.has('uploadId')) return false;
      ended.push(url.pathname);
      response.writeHead(204).end();
      return true;
    });
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    expect(ended).toEqual([`/${bucketName}/${prefix}large.bin`]);
    await archive.remove(day, run, []);
    expect(ended).toHaveLength(2);
  });

  it('needs no right to list uploads', async () => {
    const { archive } = open();
    server().intercept(refuse('GET', 'AccessDenied', (url) => url.includes('uploads')));
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    expect(await archive.list(day, run)).toEqual(['file.csv']);
  });

  it('lists more files than one answer of the server contains', async () => {
    const { archive, root } = open();
    const names = Array.from({ length: 2_500 }, (_, index) => `file-${String(index).padStart(4, '0')}`);
    server().intercept((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://server');
      if (searchParams.get('list-type') !== '2') return false;
      const from = Number(searchParams.get('continuation-token') ?? 0);
      const page = names.slice(from, from + 1_000);
      const next = from + page.length;
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(
        `<ListBucketResult><IsTruncated>${next < names.length}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>${page
          .map((name) => `<Contents><Key>${root}/${day}/${run}/${name}</Key></Contents>`)
          .join('')}</ListBucketResult>`,
      );
      return true;
    });
    expect(await archive.list(day, run)).toEqual(names);
  });

  it.each([
    ['keep', 'HEAD', 'unreadable'],
    ['keep', 'PUT', 'unwritable'],
    ['read', 'GET', 'unreadable'],
    ['remove', 'DELETE', 'unwritable'],
    ['list', 'GET', 'unreadable'],
    ['list all', 'GET', 'unreadable'],
    ['know its ledger', 'GET', 'unreadable'],
    ['be told its ledger', 'PUT', 'unwritable'],
  ] as const)('says why it cannot %s when %s is denied, and shows no secret', async (call, method, code) => {
    const { archive } = open();
    server().intercept(refuse(method, 'InvalidAccessKeyId'));
    const attempts = {
      keep: () => archive.store(day, run, 'file.csv', toBlocks(guest)),
      read: () => readAll(archive.read(day, run, 'file.csv')),
      remove: () => archive.remove(day, run, ['file.csv']),
      list: () => archive.list(day, run),
      'list all': () => archive.listFolders(),
      'know its ledger': () => archive.readLedgerMark(),
      'be told its ledger': () => archive.writeLedgerMark('mine'),
    };
    const error: unknown = await attempts[call]().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ArchiveError', code });
    const said = inspect(error, { depth: 10 });
    for (const text of [guest, ...s3Secrets]) expect(said).not.toContain(text);
    // The answer to HEAD has no body with a reason.
    const written = method === 'HEAD' ? '(HTTP-403)' : '(InvalidAccessKeyId)';
    expect(error).toMatchObject({
      message: expect.stringContaining(
        `: the account is not allowed to do that; check its key and permissions ${written}`,
      ),
    });
  });

  function countRequests(method: string): number {
    return server().requests.filter(({ line }) => line.startsWith(method)).length;
  }

  function refuse(method: string, code: string, isMeant = (_url: string) => true): Intercept {
    const more = `<AWSAccessKeyId>${s3Secrets[0]}</AWSAccessKeyId><Message>${guest}</Message>`;
    return (request, response) =>
      request.method === method &&
      isMeant(request.url ?? '') &&
      answerWith(403, code, { more })(request, response);
  }
});

function sha256Of(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function readAll(blocks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of blocks);
}
