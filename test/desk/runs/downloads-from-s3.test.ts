import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { manifestName } from '../../../src/review/file/archive-run.js';
import { createS3Archive } from '../../../src/storage/s3-archive.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { at } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { bucketName, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { getPage, startDesk, stopServers } from '../some-desk.js';
import { addFileRun, archiveOf, fileRunId, resultContent, resultName } from '../some-file-run.js';

const server = useS3Server();
afterEach(stopServers);

const keyOf = (name: string) => `evidence/2026-11-19/${fileRunId}/${name}`;
const resultPath = `/runs/${fileRunId}/result`;
const manifestPath = `/runs/${fileRunId}/manifest`;

/** A desk over a run whose files are in a bucket. */
async function start() {
  const ledger = await openTemporaryLedger(() => at);
  const run = await addFileRun(ledger);
  const temporaryFolder = mkdtempSync(join(tmpdir(), 's3-archive-'));
  onTestFinished(() => rmSync(temporaryFolder, { recursive: true }));
  onTestFinished(() => server().intercept());
  const kept = archiveOf(run);
  let manifest = '';
  for await (const bytes of kept.read(run.day, run.id, manifestName)) manifest += Buffer.from(bytes);
  await server().put(keyOf(resultName), resultContent);
  await server().put(keyOf(manifestName), manifest);
  const archive = createS3Archive({
    root: { bucket: bucketName, key: 'evidence' },
    account: 'an-account',
    open: async () => createAwsBucket(bucketName, server().access()),
    temporaryFolder,
  });
  const { url, recorded } = await startDesk({ ledger, role: 'team', parts: { archive } });
  return { run, manifest, recorded, get: (path: string) => getPage(url, path) };
}

it('The result and the manifest come from the bucket byte for byte, and that is recorded', async () => {
  const { manifest, recorded, get } = await start();
  expect(await get(resultPath)).toMatchObject({ status: 200, text: resultContent });
  expect(await get(manifestPath)).toMatchObject({ status: 200, text: manifest });
  expect(recorded.map(({ details }) => details)).toEqual([
    { run: fileRunId, file: 'result' },
    { run: fileRunId, file: 'manifest' },
  ]);
});

it('Neither is sent if it is not what the ledger recorded', async () => {
  const { run, manifest, recorded, get } = await start();
  await server().put(keyOf(resultName), resultContent.replace(/.$/m, '!'));
  await server().put(keyOf(manifestName), manifest.replace(run.file?.sha256 ?? '', 'f'.repeat(64)));
  for (const path of [resultPath, manifestPath])
    expect(await get(path)).toMatchObject({
      status: 409,
      text: expect.stringContaining('it is not what the ledger recorded'),
    });
  expect(recorded).toEqual([]);
});

it('Nothing is sent, and no secret revealed, if the bucket refuses', async () => {
  const { recorded, get } = await start();
  server().intercept((request, response) => {
    request.resume();
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>AccessDenied</Code><Message>${s3Secrets[0]}</Message></Error>`);
    return true;
  });
  for (const path of [resultPath, manifestPath]) {
    const { status, text } = await get(path);
    expect([path, status]).toEqual([path, expect.toSatisfy((one: number) => one >= 400)]);
    for (const secret of [resultContent, ...s3Secrets]) expect(text).not.toContain(secret);
  }
  expect(recorded).toEqual([]);
});
