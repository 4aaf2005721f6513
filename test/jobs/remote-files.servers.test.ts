import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { reportedFile, sha256Of } from '../support/archived-run.js';
import { createDayFolder, type DayFolder, day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath, sftpSettings } from '../support/file-day.js';
import { startStandIn, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { bucketName, toVariables, useS3Server } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { sessionUser } from '../support/sftp-server.js';
import { useSftpServer } from '../support/use-servers.js';

const buckets = useS3Server();
const server = useSftpServer(openSsh);
const bookings = makeBookings(60);
/** s3rver accepts one key id with any secret. */
const secrets = { secret: 'canary-secret-of-bucket', token: 'canary-token-of-bucket' };
const account = () =>
  toVariables({
    ...buckets().access(),
    ...{ secretAccessKey: secrets.secret, sessionToken: secrets.token },
  });

const keysOf = async (prefix: string) =>
  (await buckets().keys()).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));

/** All output of the command, and the ledger. */
function everythingIn(folder: DayFolder): string {
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
}

describe('a day whose files are in a bucket', () => {
  it('is reviewed by file and archived there; verify confirms it and detects every change', async () => {
    await buckets().put(`in/${day}.csv.gz`, gzipSync(toCsv(bookings)));
    const { folder } = await prepareFileDay(server(), {
      settings: {
        source: { path: `s3://${bucketName}/in/{day}.csv.gz` },
        archive: `s3://${bucketName}/evidence`,
      },
      async onCall(call) {
        await call.writeResult({ affected: ['BR-2'] });
        return success;
      },
    });
    const result = await folder.runDay({ env: account() });
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { read: 60, delivered: 60, affected: 1 },
    });
    expect(result.stderr).not.toContain('NodeVersionSupportWarning');
    const { archivedTo, sha256 } = reportedFile(result);
    const run = `evidence/${day}/${result.report.runId}`;
    expect(archivedTo).toBe(`s3://${bucketName}/${run}`);
    const names = ['20112026.csv', '20112026_Result.csv', 'manifest.json'];
    expect(await keysOf(`${run}/`)).toEqual([expect.stringMatching(/^\.account-/), ...names]);
    const sent = await buckets().read(`${run}/20112026.csv`);
    expect(sent).toEqual(readFileSync(server().disk(remotePath)));
    expect(sha256Of(sent)).toBe(sha256);
    expect(await buckets().metadataOf(`${run}/20112026.csv`)).toEqual({ sha256 });
    // Nothing is left on this machine.
    expect(readdirSync(join(folder.path, 'data')).filter((name) => !name.startsWith('ledger'))).toEqual([
      'spool',
    ]);
    expect(readdirSync(join(folder.path, 'data', 'spool'))).toEqual([]);

    const verified = await folder.run(['verify', day], { env: account() });
    expect(verified.stdout).not.toContain('DIFFERS');
    expect(verified.exitCode).toBe(0);
    for (const name of names) {
      const content = await buckets().read(`${run}/${name}`);
      await buckets().put(`${run}/${name}`, content.subarray(1));
      const changed = await folder.run(['verify', day], { env: account() });
      expect(changed.stdout).toContain(`DIFFERS ${name}`);
      expect(changed.exitCode).toBe(1);
      await buckets().put(`${run}/${name}`, content);
    }
    const all = [result, verified].map(({ stdout, stderr }) => stdout + stderr).join() + everythingIn(folder);
    for (const secret of Object.values(secrets)) expect(all).not.toContain(secret);
  });

  it.each([
    ['in the environment', 'environment'],
    ['in a profile', 'profile'],
  ] as const)('may be reached with a key %s, found as Amazon’s tools find it', async (_, where) => {
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    await buckets().put(`chain/${day}.csv`, toCsv(bookings));
    const { endpoint } = buckets().access();
    const folder = await createDayFolder({
      baseUrl: standIn.baseUrl,
      settings: { source: { path: `s3://${bucketName}/chain/{day}.csv` } },
    });
    const profile = join(folder.path, 'credentials');
    writeFileSync(
      profile,
      '[default]\naws_access_key_id = S3RVER\naws_secret_access_key = canary-in-profile\n',
    );
    const env = {
      environment: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'canary-in-environment' },
      profile: { AWS_SHARED_CREDENTIALS_FILE: profile },
    }[where];
    const result = await folder.runDay({ env: { ...env, AWS_ENDPOINT_URL_S3: endpoint }, asProcess: true });
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
    const { headers } = buckets().requests.findLast(({ line }) => line.includes('/chain/')) ?? {};
    expect(headers?.authorization).toContain('Credential=S3RVER/');
  });

  it('fails with a clear message without credentials', async () => {
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    const { endpoint } = buckets().access();
    const folder = await createDayFolder({
      baseUrl: standIn.baseUrl,
      settings: { source: { path: `s3://${bucketName}/chain/{day}.csv` } },
    });
    const failed = await folder.runDay({
      env: { AWS_ENDPOINT_URL_S3: endpoint, AWS_EC2_METADATA_DISABLED: 'true' },
      asProcess: true,
    });
    expect(failed.exitCode).toBe(1);
    expect(failed.report.error?.message).toContain(
      'check its key and permissions (CredentialsProviderError)',
    );
  });

  it('fails when the object is missing and names it; the next run reads it', async () => {
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    const folder = await createDayFolder({
      baseUrl: standIn.baseUrl,
      settings: { source: { path: `s3://${bucketName}/late/{day}.csv` } },
    });
    const failed = await folder.runDay({ env: account() });
    expect(failed.exitCode).toBe(1);
    expect(failed.report.error?.message).toContain(`s3://${bucketName}/late/${day}.csv`);
    expect(standIn.requests).toEqual([]);
    await buckets().put(`late/${day}.csv`, toCsv(bookings));
    expectReport(await folder.runDay({ env: account() }), {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 60 },
    });
  });

  it('stops on Ctrl-C while the archive does not answer, and resumes later', async () => {
    const bookingsOfDay = toCsv(bookings);
    const { folder } = await prepareFileDay(server(), {
      bookings: bookingsOfDay,
      settings: { archive: `s3://${bucketName}/silent` },
      async onCall(call) {
        await call.writeResult({ affected: [] });
        return success;
      },
    });
    let isAsked = false;
    buckets().intercept(() => {
      isAsked = true;
      return true;
    });
    onTestFinished(() => buckets().intercept());
    // It gives up on the archive, and the day is only released when the process ends.
    const command = folder.start(['run', '--day', day, '--json'], { env: account() });
    await vi.waitUntil(() => isAsked, { timeout: patienceMs });
    command.kill('SIGINT');
    expect((await command.ended).exitCode).toBe(1);
    buckets().intercept();
    expectReport(await folder.runDay({ env: account() }), { exitCode: 0, state: 'succeeded' });
  });

  it('passes doctor, which leaves nothing behind', async () => {
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    await buckets().put(`doctor/${day}.csv`, toCsv(bookings));
    const folder = await createDayFolder({
      baseUrl: standIn.baseUrl,
      settings: {
        source: { path: `s3://${bucketName}/doctor/{day}.csv` },
        archive: `s3://${bucketName}/doctored`,
      },
    });
    const { stdout, stderr } = await folder.run(['doctor', '--day', day], { env: account() });
    const said = (stdout + stderr).replaceAll(/\s+/g, ' ');
    expect(said).toMatch(/ok +source +s3:\/\/agency-bookings\/doctor\/2026-11-20\.csv: \d of its first/);
    expect(said).toMatch(/ok +archive +an object was put to s3:\/\/agency-bookings\/doctored, listed/);
    expect(await keysOf('doctored')).toEqual([]);
    for (const secret of Object.values(secrets)) expect(said).not.toContain(secret);
  });
});

describe('a day whose file is on an SFTP server', () => {
  it('is read there with its own account', async () => {
    const standIn = await startStandIn();
    onTestFinished(() => standIn.close());
    const { disk, port, root } = server();
    mkdirSync(disk('out'));
    chownSync(disk('out'), sessionUser.uid, sessionUser.gid);
    const { sftp } = sftpSettings(server(), port) as { sftp: { [name: string]: unknown } };
    const { host: _host, port: _port, root: _root, ...account } = sftp;
    const folder = await createDayFolder({
      baseUrl: standIn.baseUrl,
      settings: {
        source: { path: `sftp://127.0.0.1:${port}${root}/out/{day}.csv`, sftp: account },
      },
    });
    const missing = await folder.runDay();
    expect(missing.exitCode).toBe(1);
    expect(missing.report.error?.message).toContain(`sftp://127.0.0.1:${port}${root}/out/${day}.csv`);
    writeFileSync(disk(`out/${day}.csv`), toCsv(bookings));
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
    expect(standIn.accepted()).toHaveLength(60);
  });
});

describe('the same day in different places', () => {
  it('produces the identical file', async () => {
    const csv = toCsv(bookings);
    await buckets().put(`same/${day}.csv`, csv);
    await buckets().put(`same/${day}.csv.gz`, gzipSync(csv));
    expect(gunzipSync(await buckets().read(`same/${day}.csv.gz`)).toString()).toBe(csv);
    const sums = new Set<string>();
    for (const path of [
      'bookings-{day}.csv',
      `s3://${bucketName}/same/{day}.csv`,
      `s3://${bucketName}/same/{day}.csv.gz`,
    ]) {
      const { folder } = await prepareFileDay(server(), {
        bookings: csv,
        settings: { source: { path } },
        async onCall(call) {
          await call.writeResult({ affected: [] });
          return success;
        },
      });
      const result = await folder.runDay({ env: account() });
      expectReport(result, { exitCode: 0, state: 'succeeded' });
      sums.add(reportedFile(result).sha256);
    }
    expect(sums.size).toBe(1);
  });
});
