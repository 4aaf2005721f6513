import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SourceError } from '../../src/review/source.js';
import { canCountDescriptors, countDescriptors } from '../sources/files/open-descriptors.js';
import { patienceMs } from '../support/patience.js';
import { bucketName, toVariables, useS3Server } from '../support/s3-server.js';
import { day, failuresOf, settingsOf, takeSample } from '../support/sampled.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { csv, guest, longCsv, sampledCsv } from './sampled-files.js';

const waiting = { timeout: patienceMs, interval: 20 };
const ndjson = `{"hotel":{"id":7,"stars":null},"guest.name":"x","paid":true}\n\nnone\n{"hotel":{"id":"8"},"at":"2026-11-20"}\n`;
const sampledNdjson = {
  columns: ['hotel.id', 'hotel.stars', 'guest.name', 'paid', 'at'],
  records: [
    { 'hotel.id': '7', 'guest.name': 'x', paid: 'true' },
    { 'hotel.id': '8', at: '2026-11-20' },
  ],
  delimiter: undefined,
};

describe('the sample of a local file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sample-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
  });
  const lay = (content: string | Uint8Array) => writeFileSync(join(folder, `${day.iso}.txt`), content);
  const settings = (kind = 'csv') => settingsOf({ kind, path: join(folder, '{day}.txt') });

  it.each([
    ['CSV', 'csv', csv, sampledCsv],
    ['CSV in gzip', 'csv', gzipSync(csv), sampledCsv],
    ['NDJSON', 'ndjson', ndjson, sampledNdjson],
    ['NDJSON in gzip', 'ndjson', gzipSync(ndjson), sampledNdjson],
  ])('has the columns and records of %s', async (_, kind, content, expected) => {
    lay(content);
    expect(await takeSample(settings(kind))).toEqual(expected);
  });

  it.runIf(canCountDescriptors)('reads only the beginning and leaves nothing open', async () => {
    lay(longCsv);
    truncateSync(join(folder, `${day.iso}.txt`), 2 ** 34);
    const { records } = await takeSample(settings());
    expect(records).toHaveLength(500);
    expect(await countDescriptors(join(folder, `${day.iso}.txt`))).toBe(0);
  });

  it.each([
    ['missing', undefined, /there is no file/],
    ['empty', '', /is empty/],
    ['binary', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /is not UTF-8 text/],
    ['truncated', gzipSync(csv).subarray(0, 30), /cut off or damaged/],
  ])('of one that is %s fails like reading the day', async (fault, content, words) => {
    if (content !== undefined) lay(content);
    const { ofSample, ofSource, said } = await failuresOf(settings());
    expect(ofSample).toBeInstanceOf(SourceError);
    expect(ofSample).toMatchObject({ fault, message: expect.stringMatching(words) });
    expect(ofSample).toEqual(ofSource);
    expect(said).not.toContain(guest);
  });

  it('of an empty NDJSON file fails like reading the day', async () => {
    lay('');
    const { ofSample, ofSource } = await failuresOf(settings('ndjson'));
    expect(ofSample).toMatchObject({ name: 'SourceError', fault: 'empty' });
    expect(ofSample).toEqual(ofSource);
  });

  it('does not start when already aborted', async () => {
    lay(csv);
    const reason = new Error('stopped by hand');
    await expect(takeSample(settings(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the sample of an object in a bucket', () => {
  const buckets = useS3Server();
  let proxy: TcpProxy;
  beforeEach(async () => {
    proxy = await startTcpProxy(buckets().port);
    onTestFinished(() => proxy.stop());
  });
  const secret = 'canary-secret-of-bucket';
  const settings = (key: string) =>
    settingsOf(
      { kind: 'csv', path: `s3://${bucketName}/${key}` },
      {},
      toVariables({ ...buckets().access(proxy.port), secretAccessKey: secret }),
    );

  it('is the same, even with gzip', async () => {
    await buckets().put(`${day.iso}.csv`, csv);
    await buckets().put(`${day.iso}.csv.gz`, gzipSync(csv));
    expect(await takeSample(settings('{day}.csv'))).toEqual(sampledCsv);
    expect(await takeSample(settings('{day}.csv.gz'))).toEqual(sampledCsv);
  });

  it('reads only the beginning and closes the connection', async () => {
    await buckets().put(`${day.iso}.csv`, longCsv);
    expect((await takeSample(settings('{day}.csv'))).records).toHaveLength(500);
    await vi.waitUntil(() => buckets().held() === 0, waiting);
    expect(proxy.happened.bytesToClient).toBeLessThan(longCsv.length / 2);
  });

  it('fails like reading the day when there is no object, and reveals no secret', async () => {
    const { ofSample, ofSource, said } = await failuresOf(settings('none/{day}.csv'));
    expect(ofSample).toMatchObject({
      name: 'SourceError',
      fault: 'missing',
      message: `there is no object s3://${bucketName}/none/${day.iso}.csv`,
    });
    expect(ofSample).toEqual(ofSource);
    expect(said).not.toContain(secret);
  });

  it('stops when aborted while the server does not answer', async () => {
    buckets().intercept(() => true);
    onTestFinished(() => buckets().intercept());
    const stopping = new AbortController();
    const reason = new Error('stopped by hand');
    const outcome = takeSample(settings('{day}.csv'), stopping.signal).catch((error: unknown) => error);
    await vi.waitUntil(() => buckets().held() > 0, waiting);
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(() => buckets().held() === 0, waiting);
  });
});
