import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { S3Access } from '../../src/s3/aws-bucket.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { refusal, success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, stayToCome, toCsv } from '../support/made-bookings.js';
import { bucketName, useS3Server, writeVariables } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const buckets = useS3Server();
const { checkIn, checkOut } = stayToCome();
/** Only BR-2 is affected. */
const bookings = makeBookings(6, { checkIn, checkOut });

async function runDay(settings: Settings = {}, account?: S3Access) {
  const prepared = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { hashKey: 'a key of the tests', ...settings },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  if (account) writeVariables(prepared.folder.path, account);
  const result = await prepared.folder.runDay();
  expect(result.exitCode).toBe(0);
  return { ...prepared, runId: result.report.runId };
}

const pagesOf = ({ path }: DayFolder) => join(path, 'data', 'archive', 'reports', day);

async function readPages(folder: DayFolder): Promise<string[]> {
  const names = (await readdir(pagesOf(folder))).sort();
  return Promise.all(names.map((name) => readFile(join(pagesOf(folder), name), 'utf8')));
}

/** The page names the hotels of the affected booking, and nothing of the booking. */
function expectNoStay(page: string): void {
  expect(page).toContain('1 booking on an incorrect mapping');
  expect(page).toContain('002A');
  expect(page).not.toMatch(new RegExp(`Guest|BR-\\d|${checkIn}|${checkOut}`));
}

describe('The page of the day is kept in the archive when a run has ended', () => {
  it('once, without references and check-ins of bookings', async () => {
    const { folder, runId } = await runDay();
    expect(await readdir(pagesOf(folder))).toEqual([`${runId}-succeeded.html`]);
    expect((await stat(join(pagesOf(folder), `${runId}-succeeded.html`))).mode & 0o777).toBe(0o600);
    const [page = ''] = await readPages(folder);
    expectNoStay(page);
    expect(page).toContain('bookings and their check-ins are left out of this page');
    expect(page).not.toMatch(/<script|https?:/);
    // The case that the run opened is in it.
    expect(page).toMatch(/1 case with 1 open booking/);

    await folder.runDay();
    expect(await readPages(folder)).toEqual([page]);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });

  it('of a failed run, and again once it has succeeded', async () => {
    let isDown = true;
    const { folder } = await prepareDay({ bookings: csvOf(7), hasWorkers: false }, () =>
      isDown ? { kind: 'text', status: 503, body: 'down' } : success,
    );
    const failed = await folder.runDay();
    expect(failed.exitCode).toBe(1);
    const { runId } = failed.report;
    expect(await readdir(pagesOf(folder))).toEqual([
      expect.stringMatching(`^${runId}-failed-[a-z-]+\\.html$`),
    ]);
    await folder.runDay();
    expect(await readdir(pagesOf(folder))).toHaveLength(1);
    isDown = false;
    expect((await folder.runDay()).exitCode).toBe(0);
    expect((await readdir(pagesOf(folder))).at(-1)).toBe(`${runId}-succeeded.html`);
  });

  it('of each day of a replayed range, but not of a run of today', async () => {
    const { folder } = await prepareDay({ hasWorkers: false }, () => success);
    for (const ofDay of ['2026-11-18', '2026-11-19']) await folder.writeBookings(csvOf(3), ofDay);
    const { exitCode } = await folder.run([
      'replay',
      '2026-11-18',
      '--to',
      '2026-11-19',
      '--all',
      '--reason',
      'again',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    expect((await readdir(join(pagesOf(folder), '..'))).sort()).toEqual(['2026-11-18', '2026-11-19']);
  });

  it('and a run does not fail because it cannot be kept', async () => {
    const { folder } = await prepareDay(
      { bookings: csvOf(7), hasWorkers: false, settings: { archive: './hotel-review.yaml/archive' } },
      () => success,
    );
    const { exitCode, stderr, report } = await folder.runDay();
    expect(exitCode).toBe(0);
    expect(report.state).toBe('succeeded');
    expect(stderr).toContain(`the report of ${day} could not be kept in the archive`);
  });

  it('even if its process is asked to stop just then', async () => {
    const { folder } = await prepareDay(
      {
        bookings: csvOf(7),
        settings: { archive: `s3://${bucketName}/stopped` },
      },
      () => success,
    );
    writeVariables(folder.path, buckets().access());
    const running = folder.start(['run', '--day', day, '--json']);
    onTestFinished(() => buckets().intercept());
    buckets().intercept(({ url = '' }) => {
      // It checks what is already kept. A second signal would end it at once.
      if (!decodeURIComponent(url).includes('stopped/reports/')) return false;
      buckets().intercept();
      running.kill('SIGTERM');
      return false;
    });
    const { report } = await running.ended;
    expect(report.state).toBe('succeeded');
    expect(await buckets().keys()).toContain(`stopped/reports/${day}/${report.runId}-succeeded.html`);
  });

  it('not where a run was refused before it began', async () => {
    const { folder } = await prepareDay({ bookings: csvOf(7), hasWorkers: false }, () => refusal(4010));
    expect((await folder.run(['run', '2999-01-01', '--json'])).exitCode).toBe(2);
    expect(existsSync(join(folder.path, 'data', 'archive'))).toBe(false);
  });
});

describe('Of a guest, the kept page has nothing', () => {
  it('that an erasure with --all, or the end of guestNameDays, would have to take out', async () => {
    const { folder } = await runDay();
    const [page = ''] = await readPages(folder);
    const erased = await folder.run(['guest', 'erase', 'BR-2', '--all', '--reason', 'x', '--json']);
    expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
    expect(await readPages(folder)).toEqual([page]);
    expectNoStay(page);
    const { json } = await folder.run(['privacy', '--json']);
    expect(json).toMatchObject({ notKept: expect.stringContaining('the pages of reports in the archive') });
  });

  it('so that it stays readable with keys, and in a bucket', async () => {
    const { runId } = await runDay(
      {
        keys: './keys',
        archive: `s3://${bucketName}/kept`,
      },
      buckets().access(),
    );
    const key = `kept/reports/${day}/${runId}-succeeded.html`;
    expect(await buckets().keys()).toContain(key);
    expectNoStay((await buckets().read(key)).toString());
  });
});
