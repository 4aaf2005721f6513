import { chmodSync, chownSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { archiveOf, sha256Of } from '../support/archived-run.js';
import type { CommandResult } from '../support/command.js';
import { attemptCodes, expectReport } from '../support/expectations.js';
import { prepareFileDay, remoteFolder, remotePath, resultPath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { openSsh, proFtpd } from '../support/sftp-programs.js';
import { makeKey, runsAsRoot, type SftpServerKind, sessionUser } from '../support/sftp-server.js';
import { makeRemoteFolder, sftpKindsForFaults, useSftpServer } from '../support/use-servers.js';
import { expectFailedStep, expectWholeDay, toReviewFile } from '../support/whole-day.js';
import { watchPublished } from './published-files.js';

/** More than the small disk can hold. */
const bookings = makeBookings(1_500);
const file = toReviewFile(bookings);
const earlier = toReviewFile(makeBookings(5));
const needsRoot = runsAsRoot ? undefined : 'needs root, to own what the session may not touch';

describe.each(sftpKindsForFaults)('a day by file on a server of $name', (kind) => {
  const server = useSftpServer(kind);

  const prepare = async () => {
    makeRemoteFolder(server(), remoteFolder);
    return prepareFileDay(server(), { bookings: toCsv(bookings), settings: { retry: { tries: 2 } } });
  };
  /** Everybody may write there, but nobody may overwrite or remove existing files. */
  const protect = (...paths: string[]) => {
    const folder = server().disk(remoteFolder);
    for (const path of [folder, ...paths.map((name) => server().disk(name))]) chownSync(path, 0, 0);
    chmodSync(folder, 0o1777);
  };
  /** The owner of a folder may do all of that. */
  const unprotect = (...paths: string[]) => {
    for (const path of [remoteFolder, ...paths])
      chownSync(server().disk(path), sessionUser.uid, sessionUser.gid);
  };

  it('whose disk is full fails without damage; once there is room, the next run completes it', async ({
    skip,
  }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const day = await prepare();
    const disk = mountSmallDisk(server().disk(remoteFolder), 64, sessionUser.uid);
    writeFileSync(server().disk(remotePath), earlier);
    unprotect(remotePath);
    const watch = watchPublished(server());

    const failed = await day.folder.runDay();
    expectReport(failed, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(failed.report.error?.message).toMatch(/^upload failed with sftp-disk-full:/);
    expect(day.listRemote()).toEqual(['20112026.csv']);
    expect(readFileSync(server().disk(remotePath), 'utf8')).toBe(earlier);
    expect(day.service.calls).toEqual([]);

    disk.grow();
    const result = await day.folder.runDay();
    expectWholeDay(day, result, { bookings });
    await watch.expectOnly(earlier, file);
    const kept = `earlier-${sha256Of(earlier).slice(0, 12)}-20112026.csv`;
    expect(archiveOf(result).read(kept).toString()).toBe(earlier);
  });

  it('whose folder is not writable fails at once; once it is, the next run completes it', async () => {
    const day = await prepare();
    const ledger = day.folder.watchLedger();
    chmodSync(server().disk(remoteFolder), 0o555);
    expectFailedStep(await day.folder.runDay(), {
      step: 'upload',
      code: 'sftp-permission-denied',
      class: 'refused',
    });
    expect(await attemptCodes(ledger, 'upload')).toEqual(['sftp-permission-denied']);
    expect(day.listRemote()).toEqual([]);

    chmodSync(server().disk(remoteFolder), 0o755);
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });

  it('that denies the rename keeps the existing file whole; once it allows it, the next run completes it', async ({
    skip,
  }) => {
    skip(needsRoot !== undefined, needsRoot);
    const day = await prepare();
    writeFileSync(server().disk(remotePath), earlier);
    protect(remotePath);
    const watch = watchPublished(server());
    const failed = await day.folder.runDay();
    expectFailedStep(failed, { step: 'upload', code: 'sftp-permission-denied', class: 'refused' });
    expect(day.listRemote()).toEqual(['20112026.csv']);
    expect(readFileSync(server().disk(remotePath), 'utf8')).toBe(earlier);
    expect(day.service.calls).toEqual([]);

    unprotect();
    expectWholeDay(day, await day.folder.runDay(), { bookings });
    await watch.expectOnly(earlier, file);
  });

  it("that denies the removal of an earlier run's result waits for the new one", async ({ skip }) => {
    skip(needsRoot !== undefined, needsRoot);
    makeRemoteFolder(server(), remoteFolder);
    const [header, ...lines] = file.trimEnd().split('\n');
    const old = [`${header},IsCorrectMapping`, ...lines.map((line) => `${line},False`), ''].join('\n');
    writeFileSync(server().disk(resultPath), old);
    utimesSync(server().disk(resultPath), 1_700_000_000, 1_700_000_000);
    protect(resultPath);
    const day = await prepareFileDay(server(), { bookings: toCsv(bookings), onCall: () => success });
    const ledger = day.folder.watchLedger();
    const running = day.folder.runDay();
    await vi.waitUntil(async () => (await attemptCodes(ledger, 'await-result')).includes('result-absent'), {
      timeout: patienceMs,
    });
    expect(readFileSync(server().disk(resultPath), 'utf8')).toBe(old);
    await day.service.calls[0]?.writeResult({ affected: ['BR-7'] });
    const result = await running;
    expectWholeDay(day, result, { bookings });
    expect(result.report.counts.affected).toBe(1);
    const kept = `earlier-${sha256Of(old).slice(0, 12)}-20112026_Result.csv`;
    expect(archiveOf(result).read(kept).toString()).toBe(old);
  });
});

/** The run failed in a way that retrying cannot fix, and says why and what to do. */
function expectFatal(result: CommandResult, step: string, code: string, words: readonly string[]): void {
  expectReport(result, { exitCode: 1, state: 'failed' });
  expect(result.report.error?.class).toBe('fatal');
  // Complete sentences, with the next step given once.
  expect(result.report.error?.message).toMatch(/ which retrying cannot fix\. [A-Z].*[^.]\.$/);
  expect(result.stderr.split('run --day')).toHaveLength(2);
  for (const word of [`${step} of run ${result.report.runId} ended with ${code}`, ...words]) {
    expect(result.report.error?.message).toContain(word);
    // The closing text is wrapped.
    expect(result.stderr.replaceAll(/\s+/g, ' ')).toContain(word);
  }
}

describe('a day by file, whose server presents a host key other than the pinned one,', () => {
  const server = useSftpServer(openSsh);
  /** A different machine answers. */
  const startOther = async () => {
    const other = await openSsh.start();
    onTestFinished(() => other.stop());
    return other;
  };

  it('sends nothing there, and is resumed once the right machine answers', async () => {
    const day = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    const ledger = day.folder.watchLedger();
    const other = await startOther();
    await day.folder.configure({ file: { sftp: { port: other.port } } });
    const words = [`${other.fingerprints[0]} (ssh-ed25519)`, 'Ask its operator', 'add it to hostKey'];
    expectFatal(await day.folder.runDay(), 'upload', 'sftp-host-key-refused', words);
    expect(await attemptCodes(ledger, 'upload')).toEqual(['sftp-host-key-refused']);
    expect(readdirSync(other.disk(''))).toEqual([]);
    expect(day.service.calls).toEqual([]);

    await day.folder.configure({});
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });

  it('names the presented key so that it can be pinned, and then is resumed', async () => {
    const day = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    const old = `SHA256:${'A'.repeat(43)}`;
    await day.folder.configure({ file: { sftp: { hostKey: old } } });
    const { report } = await day.folder.runDay();
    const [presented] = /SHA256:[\w+/]{43}/.exec(report.error?.message ?? '') ?? [];
    expect(server().fingerprints).toContain(presented);
    await day.folder.configure({ file: { sftp: { hostKey: [old, presented] } } });
    const result = await day.folder.runDay();
    expect(result.report.runId).toBe(report.runId);
    expectWholeDay(day, result, { bookings });
  });

  it('is not asked for its result meanwhile, and fetches it afterwards without a second call', async () => {
    const day = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings: { file: { resultTimeoutMinutes: 0.005 } },
      onCall: () => success,
    });
    const waiting = await day.folder.runDay();
    expectReport(waiting, { exitCode: 3, state: 'awaiting-result', counts: { delivered: bookings.length } });
    await day.service.calls[0]?.writeResult();
    const other = await startOther();
    await day.folder.configure({ file: { sftp: { port: other.port } } });
    const refused = await day.folder.runDay();
    expectFatal(refused, 'await-result', 'sftp-host-key-refused', [`${other.fingerprints[0]}`]);
    expect(refused.report.counts).toMatchObject({ delivered: bookings.length, pending: 0 });

    await day.folder.configure({});
    const result = await day.folder.runDay();
    expect(result.report.runId).toBe(waiting.report.runId);
    expectWholeDay(day, result, { bookings });
  });
});

type Wrong = [string, SftpServerKind, (folder: string) => object];

describe.each([
  ['a wrong password', proFtpd, () => ({ password: 'not-the-password' })],
  ['a wrong key', openSsh, (folder: string) => ({ privateKeyFile: makeKey(join(folder, 'id'), 'ed25519') })],
  // Refused like a wrong password.
  ...(isNightly ? [['a wrong user name', proFtpd, () => ({ username: 'nobody-here' })] satisfies Wrong] : []),
] satisfies Wrong[])('a day by file with %s', (_, kind, wrong) => {
  const server = useSftpServer(kind);

  it('fails after one login and says so; with the right one the next run completes it', async () => {
    const day = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    const ledger = day.folder.watchLedger();
    await day.folder.configure({ file: { sftp: wrong(day.folder.path) } });
    const refused = await day.folder.runDay();
    expectFatal(refused, 'upload', 'sftp-authentication-refused', ['check user name, key and password']);
    expect(`${refused.stdout}${refused.stderr}`).not.toContain('not-the-password');
    expect(await attemptCodes(ledger, 'upload')).toEqual(['sftp-authentication-refused']);
    expect(day.service.calls).toEqual([]);

    await day.folder.configure({});
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });
});

describe('a day by file whose private key is missing', () => {
  const server = useSftpServer(openSsh);

  it('fails and names the file; once it exists, the next run completes the day', async () => {
    const day = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    await day.folder.configure({ file: { sftp: { privateKeyFile: 'absent-key' } } });
    const words = [join(day.folder.path, 'absent-key'), 'cannot be used'];
    expectFatal(await day.folder.runDay(), 'upload', 'sftp-private-key-unreadable', words);
    await day.folder.configure({});
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });
});
