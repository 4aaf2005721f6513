import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createDayFolder, type Settings } from '../support/day-folder.js';
import { type ExhaustingSftp, startExhaustingSftp } from '../support/exhausting-sftp.js';
import { attemptCodes } from '../support/expectations.js';
import { remotePath, resultPath } from '../support/file-day.js';
import { startStandIn, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

let server: ExhaustingSftp;
beforeEach(async () => {
  server = await startExhaustingSftp();
});
afterEach(() => server.close());

const folderOfDay = `/${remotePath.slice(0, remotePath.lastIndexOf('/'))}`;
const terabyte = 1_000_000_000_000;

/** A day by file on the hostile server. @param onCall happens when the service is told about the file */
async function prepareDay(onCall: () => void, settings: Settings = {}) {
  const standIn = await startStandIn(() => {
    onCall();
    return success;
  });
  onTestFinished(() => standIn.close());
  const { port, username, password, fingerprint } = server;
  const sftp = { host: '127.0.0.1', port, username, password, hostKey: fingerprint, ...settings };
  return createDayFolder({
    baseUrl: standIn.baseUrl,
    bookings: toCsv(makeBookings(50)),
    settings: { delivery: 'file', file: { sftp, resultPollSeconds: 0.05 } },
  });
}

describe('a server that offers more than is accepted', () => {
  it('sends nothing of a result of 1 TB: the run fails for good and says what to do', async () => {
    const folder = await prepareDay(() => server.claims.set(`/${resultPath}`, terabyte));
    const ledger = folder.watchLedger();
    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({ state: 'failed', counts: { delivered: 50 } });
    expect(report.error?.class).toBe('data');
    expect(report.error?.message).toMatch(
      /^await-result of run 20261120-\w+ failed with sftp-too-large: download \/VerifyMappings\/112026\/20112026_Result\.csv: it has 1,000,000,000,000 bytes, and at most 16,0\d\d,\d{3} are accepted\. .*more than 10 times the file that was sent.*\. Then run 2026-11-20 again$/,
    );
    expect(server.bytesSent).toBeLessThan(20_000);
    expect(readdirSync(join(folder.path, 'data', 'spool')).filter((name) => /result/.test(name))).toEqual([]);
    expect(await attemptCodes(ledger, 'await-result')).toEqual(['sftp-too-large']);
  });

  it('does not fill the disk with what it claims to have from an earlier run', async () => {
    server.claims.set(`/${remotePath}`, terabyte);
    const folder = await prepareDay(() => {});
    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(1);
    expect(report.error).toMatchObject({
      class: 'data',
      message: expect.stringContaining('upload of run 20261120-'),
    });
    expect(server.bytesSent).toBe(0);
    expect(readdirSync(join(folder.path, 'data', 'archive'))).toEqual([
      expect.stringMatching(/^ledger-of-\w+\.json$/),
      'reports',
    ]);
  });

  it('does not keep the run busy with an endless folder', async () => {
    server.listForever = () => Array.from({ length: 100 }, (_, number) => `${number}.csv`);
    const folder = await prepareDay(() => {});
    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(1);
    expect(report.error).toMatchObject({
      class: 'data',
      message: expect.stringContaining('the server lists more than 100,000 entries'),
    });
    expect(server.listRequests).toBeLessThan(1_015);
  });

  it('does not have thousands of results downloaded', async () => {
    const folder = await prepareDay(() => {
      for (let number = 0; number < 200; number += 1)
        server.files.set(`${folderOfDay}/20112026-${number}_Result.csv`, Buffer.from('x\n'));
    });
    const { report } = await folder.runDay();
    expect(report.error).toMatchObject({
      class: 'data',
      message: expect.stringContaining(
        'VerifyMappings/112026 has 200 files named like a result of the day, and at most 100',
      ),
    });
  });

  it('does not fill the memory with rows that were never sent', async () => {
    const rows = `BookingReferenceId,IsCorrectMapping\n${'B,true\n'.repeat(20_000)}`;
    const folder = await prepareDay(() => server.files.set(`/${resultPath}`, Buffer.from(rows)));
    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(1);
    expect(report.error).toMatchObject({
      class: 'data',
      message: expect.stringContaining('the result has more than 10,500 rows for 50 that were sent'),
    });
  });
});
