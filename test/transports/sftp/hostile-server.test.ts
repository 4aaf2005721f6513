import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSftpServer, type SftpServerOptions } from '../../../src/transports/sftp/server.js';
import type { SftpSession } from '../../../src/transports/sftp/sftp.js';
import { type ExhaustingSftp, startExhaustingSftp } from '../../support/exhausting-sftp.js';

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));

let server: ExhaustingSftp;
let session: SftpSession;
beforeEach(async () => {
  server = await startExhaustingSftp();
});
afterEach(async () => {
  await session.close();
  await server.close();
});

async function connect(options: Partial<SftpServerOptions> = {}): Promise<SftpSession> {
  const { port, username, password, fingerprint } = server;
  const login = { host: '127.0.0.1', port, username, password, hostKeys: [fingerprint], root: '/' };
  session = await createSftpServer({ ...login, ...options }).connect({
    signal: new AbortController().signal,
  });
  return session;
}

const terabyte = 1_000_000_000_000;

describe('a server that claims a file of 1 TB', () => {
  it('sends none of it', async () => {
    server.claims.set('/x.csv', terabyte);
    const download = (await connect()).download('x.csv', join(folder, 'x'), {
      limit: { bytes: 1_000_000, advice: 'Raise the setting.' },
    });
    await expect(download).rejects.toMatchObject({
      kind: 'excessive',
      code: 'too-large',
      message:
        'download /x.csv: it has 1,000,000,000,000 bytes, and at most 1,000,000 are accepted. Raise the setting.',
    });
    expect(server.bytesSent).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('sends none of it if the limit would permit it but the disk would not', async () => {
    server.claims.set('/x.csv', 1_000 * terabyte);
    const download = (await connect()).download('x.csv', join(folder, 'x'), {
      limit: { bytes: Number.MAX_SAFE_INTEGER, advice: '' },
    });
    await expect(download).rejects.toMatchObject({ kind: 'retryable', code: 'no-local-space' });
    await expect(download).rejects.toThrow(
      /^\/x\.csv is on the server, but its 1000000000\.0 MB do not fit on the disk of .*, where [\d.]+ MB are free and [\d.]+ MB must stay free\. Free [\d.]+ MB there\.$/,
    );
    expect(server.bytesSent).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an endless listing', () => {
  const full = () => Array.from({ length: 100 }, (_, number) => `${server.listRequests}-${number}.csv`);

  it('stops at the number of entries', async () => {
    server.listForever = full;
    await expect((await connect({ limits: { maxEntries: 5_000 } })).list('')).rejects.toMatchObject({
      kind: 'excessive',
      code: 'too-many-files',
      message: expect.stringContaining('more than 5,000 entries'),
    });
    expect(server.listRequests).toBeLessThan(60);
  });

  it('stops at the length of the names', async () => {
    server.listForever = () => [`${'x'.repeat(20_000)}.csv`];
    await expect((await connect({ limits: { maxEntries: 1_000 } })).list('')).rejects.toMatchObject({
      kind: 'excessive',
      code: 'too-many-files',
      message: expect.stringContaining('names of more than 0.5 MB'),
    });
    expect(server.listRequests).toBeLessThan(30);
  });

  it('of unusable names, or of nothing, stops, too', async () => {
    server.listForever = () => ['a\u001bb'];
    await expect((await connect({ limits: { maxEntries: 100 } })).list('')).rejects.toMatchObject({
      code: 'too-many-files',
    });
    server.listForever = () => [];
    await expect((await connect({ limits: { maxEntries: 100 } })).list('')).rejects.toMatchObject({
      code: 'too-many-files',
    });
  });

  it('that trickles in stops at the time limit', async () => {
    server.listForever = full;
    server.answerAfterMs = 20;
    await expect((await connect({ limits: { operationMs: 300 } })).list('')).rejects.toMatchObject({
      kind: 'retryable',
      code: 'too-slow',
      message: expect.stringMatching(/^list \/: not done after 0\.3 s/),
    });
  });
});

describe('a download that trickles in', () => {
  it('stops at the time limit although it never stalls', async () => {
    server.claims.set('/x.csv', 1_000_000);
    Object.assign(server, { pieceBytes: 1, answerAfterMs: 10 });
    const open = await connect({ limits: { transferMs: 300 } });
    await expect(
      open.download('x.csv', join(folder, 'x'), { limit: { bytes: 1_000_000, advice: '' } }),
    ).rejects.toMatchObject({ kind: 'retryable', code: 'too-slow' });
    expect(readdirSync(folder)).toEqual([]);
  });
});
