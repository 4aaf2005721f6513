import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resultName } from '../../src/review/file/file-attempt.js';
import { day as businessDay } from '../support/day-folder.js';
import { attemptCodes, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { useSftpServer } from '../support/use-servers.js';
import { expectFailedStep, expectWholeDay, toReviewFile } from '../support/whole-day.js';

const bookings = makeBookings(300);
const file = toReviewFile(bookings);
const stepsBefore = { upload: 1, trigger: 2, archive: 4 } as const;

const server = useSftpServer(openSsh);

/** A day whose run lost the server when it reached that step; `resumeDay` restores the server. */
async function prepareCutOffDay(step: keyof typeof stepsBefore) {
  const proxy = await startTcpProxy(server().port);
  onTestFinished(() => proxy.stop());
  const day = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    port: proxy.port,
    settings: { retry: { tries: 1 } },
  });
  const ledger = day.folder.watchLedger();
  let isDown = true;
  proxy.beforePassing(async () => {
    const { done } = await ledger.run();
    // The day may have been resumed while the ledger was read.
    if (isDown && done === stepsBefore[step]) proxy.resetAfter(0);
  });
  const healServer = () => {
    isDown = false;
    proxy.heal();
  };
  const failed = await day.folder.runDay();
  const delivered = step === 'archive' ? bookings.length : 0;
  expectFailedStep(failed, { step, code: 'sftp-connection-lost', delivered });
  expect(proxy.happened.resets).toBeGreaterThan(0);
  expect(day.service.calls).toHaveLength(step === 'archive' ? 1 : 0);
  const spool = join(day.folder.path, 'data', 'spool');
  const archive = join(day.folder.path, 'data', 'archive');
  const { runId } = failed.report;
  return {
    day,
    proxy,
    ledger,
    spooled: (suffix: string) => join(spool, `${runId}${suffix}`),
    empty: () => {
      for (const name of readdirSync(spool)) rmSync(join(spool, name));
    },
    archived: (name: string) => join(archive, businessDay, runId, name),
    healServer,
    resumeDay: () => {
      healServer();
      return day.folder.runDay();
    },
  };
}

/** Different bytes of the same length. */
const forged = file.replace('Guest 17,', 'Ghost 17,');

/** A foreign file, with an earlier or later time than ours. */
function replaceRemote(content: string, seconds: number): void {
  const path = server().disk(remotePath);
  rmSync(path, { force: true });
  writeFileSync(path, content);
  utimesSync(path, Date.now() / 1_000 + seconds, Date.now() / 1_000 + seconds);
}

describe('between upload and call', () => {
  it.each([
    ['is removed', () => rmSync(server().disk(remotePath))],
    ['is replaced by another one', () => replaceRemote('somebody else was here\n', 10)],
    ['is replaced by a later one of the same length', () => replaceRemote(forged, 10)],
    ['is replaced by an older one of the same length', () => replaceRemote(forged, -3_600)],
    ['is truncated', () => writeFileSync(server().disk(remotePath), file.slice(0, -40))],
  ])('a file that %s is published again before the call', async (_, tamper) => {
    const { day, ledger, resumeDay } = await prepareCutOffDay('trigger');
    expect(readFileSync(server().disk(remotePath), 'utf8')).toBe(file);
    tamper();
    expectWholeDay(day, await resumeDay(), { bookings });
    expect(await attemptCodes(ledger, 'upload')).toEqual(['ok']);
  });

  it('a file that was touched but is unchanged is left where it is', async () => {
    const { day, resumeDay } = await prepareCutOffDay('trigger');
    replaceRemote(file, 10);
    const { ino } = statSync(server().disk(remotePath));
    expectWholeDay(day, await resumeDay(), { bookings });
    expect(statSync(server().disk(remotePath)).ino).toBe(ino);
  });

  it.each([
    ['comes up again', () => {}],
    ['is restored by whoever removed it', () => replaceRemote(file, 10)],
  ])(
    'a file that is removed, is cut off while it is restored and then %s leaves nothing else there',
    async (_, then) => {
      const { day, proxy, ledger, healServer, resumeDay } = await prepareCutOffDay('trigger');
      rmSync(server().disk(remotePath));
      const { resets } = proxy.happened;
      healServer();
      proxy.beforePassing(() => {
        if (day.listRemote().some((name) => name.endsWith('.part'))) proxy.resetAfter(0);
      });
      expectFailedStep(await day.folder.runDay(), { step: 'trigger', code: 'sftp-connection-lost' });
      expect(proxy.happened.resets).toBe(resets + 1);
      expect(day.listRemote()).toEqual([expect.stringMatching(/\.part$/)]);
      then();
      expectWholeDay(day, await resumeDay(), { bookings });
      expect(await attemptCodes(ledger, 'upload')).toEqual(['ok']);
    },
  );

  it('an emptied spool does not matter to the call, and is refilled for the archive', async () => {
    const { day, empty, resumeDay } = await prepareCutOffDay('trigger');
    empty();
    expectWholeDay(day, await resumeDay(), { bookings });
  });

  it('a file that is removed while the spool is emptied is restored from the ledger', async () => {
    const { day, empty, resumeDay } = await prepareCutOffDay('trigger');
    empty();
    rmSync(server().disk(remotePath));
    expectWholeDay(day, await resumeDay(), { bookings });
  });

  it('a file that is removed while the spool is tampered with is restored unchanged', async () => {
    const { day, spooled, resumeDay } = await prepareCutOffDay('trigger');
    writeFileSync(spooled('.csv'), forged);
    rmSync(server().disk(remotePath));
    expectWholeDay(day, await resumeDay(), { bookings });
  });
});

describe('between write and upload', () => {
  it.each([
    ['is emptied', (path: string) => rmSync(path)],
    ['is tampered with', (path: string) => writeFileSync(path, forged)],
    ['is truncated', (path: string) => writeFileSync(path, file.slice(0, -40))],
  ])('a spool that %s is written again from the ledger', async (_, tamper) => {
    const { day, spooled, resumeDay } = await prepareCutOffDay('upload');
    expect(readFileSync(spooled('.csv'), 'utf8')).toBe(file);
    tamper(spooled('.csv'));
    expectWholeDay(day, await resumeDay(), { bookings });
  });
});

describe('between result and archive', () => {
  it.each([
    ['is emptied', (path: string) => rmSync(path)],
    [
      'is tampered with',
      (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('True', 'False')),
    ],
  ])('a result in the spool that %s is downloaded again', async (_, tamper) => {
    const { day, spooled, resumeDay } = await prepareCutOffDay('archive');
    tamper(spooled(resultName({ id: '' }, '20112026_Result.csv')));
    const result = await resumeDay();
    expectWholeDay(day, result, { bookings });
    expect(result.report.counts.affected).toBe(0);
  });

  it('a different file in the archive under the same name is left alone, and the run says so', async () => {
    const { day, ledger, archived, resumeDay } = await prepareCutOffDay('archive');
    const path = archived('20112026.csv');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, forged);
    const code = 'archive-different-content';
    // Only a person can say which is right.
    const expected = { step: 'archive', code, delivered: bookings.length, class: 'refused' } as const;
    expectFailedStep(await resumeDay(), expected);
    expect((await attemptCodes(ledger, 'archive')).at(-1)).toBe(code);
    expect(readFileSync(path, 'utf8')).toBe(forged);
    rmSync(path);
    expectWholeDay(day, await resumeDay(), { bookings });
  });
});

describe('a local folder', () => {
  const prepare = () =>
    prepareFileDay(server(), { bookings: toCsv(bookings), settings: { retry: { tries: 2 } } });

  it('an archive whose folder of the day is none fails the run after delivery; the next one only archives', async () => {
    const day = await prepare();
    const ofDay = join(day.folder.path, 'data', 'archive', '2026-11-20');
    mkdirSync(dirname(ofDay), { recursive: true, mode: 0o700 });
    writeFileSync(ofDay, '');
    const failed = await day.folder.runDay();
    expectFailedStep(failed, { step: 'archive', code: 'archive-unwritable', delivered: bookings.length });
    rmSync(ofDay);
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });

  it('a full disk under the archive fails the run; once there is room, the next one archives complete files', async ({
    skip,
  }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const day = await prepare();
    const archive = join(day.folder.path, 'data', 'archive');
    mkdirSync(archive, { recursive: true, mode: 0o700 });
    const disk = mountSmallDisk(archive, 16);
    const failed = await day.folder.runDay();
    expectFailedStep(failed, { step: 'archive', code: 'archive-unwritable', delivered: bookings.length });
    expect(failed.report.error?.message).toMatch(/; free space on the disk of the archive, or /);
    const files = readdirSync(archive, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    // Besides reports, only marks, which hold no data of a day.
    const names = files.map(({ name }) => name).filter((name) => !name.endsWith('.html'));
    expect(names.filter((name) => !/^(?:\.account-|ledger-of-)/.test(name))).toEqual([]);
    disk.grow();
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });

  it('a spool that is not a folder fails the run before anything is sent; the next one delivers', async () => {
    const day = await prepare();
    const spool = join(day.folder.path, 'data', 'spool');
    mkdirSync(dirname(spool), { mode: 0o700 });
    writeFileSync(spool, '');
    const failed = await day.folder.runDay();
    expectReport(failed, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(failed.report.error?.message).toMatch(/^write failed with local-/);
    expect(readdirSync(server().disk(''))).toEqual([]);
    rmSync(spool);
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });

  it('a full disk under the spool fails the run before anything is sent; the next one delivers', async ({
    skip,
  }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const day = await prepare();
    const spool = join(day.folder.path, 'data', 'spool');
    mkdirSync(spool, { recursive: true, mode: 0o700 });
    const disk = mountSmallDisk(spool, 8);
    const failed = await day.folder.runDay();
    expectFailedStep(failed, { step: 'write', code: 'local-enospc' });
    expect(failed.report.error?.message).toMatch(
      /; free space on the disk of file\.spool, then run 2026-11-20 again$/,
    );
    expect(readdirSync(spool)).toEqual([]);
    expect(readdirSync(server().disk(''))).toEqual([]);
    disk.grow();
    expectWholeDay(day, await day.folder.runDay(), { bookings });
  });
});
