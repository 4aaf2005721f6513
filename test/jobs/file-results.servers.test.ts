import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs';
import { appendFile, rename, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { archiveOf, archiveOfDay, sha256Of } from '../support/archived-run.js';
import type { CalledCommand } from '../support/command.js';
import { type DayFolder, day, type Settings } from '../support/day-folder.js';
import { attemptCodes, expectReport } from '../support/expectations.js';
import { type FileDay, prepareFileDay, remoteFolder, remotePath, resultPath } from '../support/file-day.js';
import type { FileCall } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import type { LedgerWatch } from '../support/ledger-watch.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { runsAsRoot, sessionUser } from '../support/sftp-server.js';
import { everySftpKind, makeRemoteFolder, useSftpServer } from '../support/use-servers.js';

const bookings = makeBookings(4);
/** Long enough that no slow result is mistaken for a finished one. */
const neverQuiet = { resultQuietSeconds: 600 };
/** So short that the run ends before anybody writes a result. */
const briefTimeout = { resultTimeoutMinutes: 0.005 };
/** Long enough for a result to be written while a run waits; in the nightly suite, other tests keep the processors busy. */
const shortTimeout = { resultTimeoutMinutes: isNightly ? 0.25 : 0.1 };
const strangers = makeBookings(4, { first: 901 }).map((booking) => ({
  'Service Mappings Id': String(booking.ServiceId),
  BookingReferenceId: booking.BookingReferenceId,
  ProviderName: booking.ProviderName,
  ProviderHotelId: booking.ProviderHotelId,
}));

async function listAffected(folder: DayFolder, expectedExit = 0): Promise<unknown> {
  const { json, exitCode } = await folder.run(['affected', day, '--json']);
  expect(exitCode).toBe(expectedExit);
  return (json as { affected: { BookingReferenceId: string }[] }).affected.map(
    (one) => one.BookingReferenceId,
  );
}

/** A run that waits for its result. */
interface Waiting {
  readonly command: CalledCommand;
  readonly ledger: LedgerWatch;
}

const cutLastRow = (content: string) => content.slice(0, content.lastIndexOf('\n', content.length - 2) + 1);

/** What `show` says about a booking. */
async function verdictOf(folder: DayFolder, reference: string): Promise<unknown> {
  const { json } = await folder.run(['show', reference, '--json']);
  const [found] = (json as { bookings: { verdict: string; verdictReason?: string }[] }).bookings;
  return [found?.verdict, found?.verdictReason];
}

/** Long texts are wrapped. */
const inOneLine = (text: string) => text.replace(/\s+/g, ' ');

/** How many checks for the result had this outcome. */
async function countChecks(ledger: LedgerWatch, code: string): Promise<number> {
  return (await attemptCodes(ledger, 'await-result')).filter((found) => found === code).length;
}

/** Waits until a run has made one more complete check. */
async function looked({ command, ledger }: Waiting, code: string): Promise<void> {
  const before = await countChecks(ledger, code);
  const hasChecked = async () => (await countChecks(ledger, code)) >= before + 2;
  await vi.waitUntil(async () => command.hasEnded || (await hasChecked()), {
    timeout: patienceMs,
    interval: 20,
  });
  expect(await hasChecked()).toBe(true);
}

describe('a result', () => {
  const server = useSftpServer(openSsh);

  /** A day whose calls are answered with success and no result. */
  async function prepare(file: Settings = {}): Promise<FileDay & { lastCall(): FileCall }> {
    const prepared = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings: { file },
      onCall: () => success,
    });
    return {
      ...prepared,
      lastCall() {
        const call = prepared.service.calls.at(-1);
        if (!call) throw new Error('there was no call');
        return call;
      },
    };
  }

  /** Starts the day's run and waits until it has seen that there is no result. */
  async function startWaiting(folder: DayFolder): Promise<Waiting> {
    const command = folder.call(['run', '--day', day, '--json']);
    const ledger = folder.watchLedger();
    const hasChecked = async () => (await countChecks(ledger, 'result-absent')) > 0;
    await vi.waitUntil(async () => command.hasEnded || (await hasChecked()), {
      timeout: patienceMs,
      interval: 20,
    });
    expect(command.hasEnded).toBe(false);
    return { command, ledger };
  }

  it('that does not arrive leaves the day delivered with exit 3; the next run checks again, and accepts it once it is there', async () => {
    const { folder, service, lastCall, listRemote } = await prepare(briefTimeout);
    const first = await folder.runDay();
    const counts = { delivered: 4, pending: 0, affected: null };
    expectReport(first, { exitCode: 3, state: 'awaiting-result', counts });
    expect(first.json).toMatchObject({
      finishedAt: null,
      file: { remotePath, resultName: null, archivedTo: null },
    });
    expect(first.stderr).toContain('awaits its result');
    expect(first.stderr).toContain(`hotel-review run --day ${day}`);

    const again = await folder.runDay();
    expectReport(again, { exitCode: 3, state: 'awaiting-result', counts });
    expect(again.report.runId).toBe(first.report.runId);
    expect(listRemote()).toEqual(['20112026.csv']);

    await lastCall().writeResult({ affected: ['BR-3'] });
    const last = await folder.runDay();
    expectReport(last, {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 4, affected: 1, repeated: 0 },
    });
    expect(last.report.runId).toBe(first.report.runId);
    expect(archiveOf(last).read('20112026_Result.csv').toString()).toBe(
      lastCall().renderResult({ affected: ['BR-3'] }),
    );
    expect(await listAffected(folder)).toEqual(['BR-3']);
    expect(service.calls).toHaveLength(1);
  });

  it('that arrives late is accepted by the run that waits for it', async () => {
    const { folder, lastCall, service } = await prepare();
    const { command } = await startWaiting(folder);
    await lastCall().writeResult({ affected: ['BR-1', 'BR-4'] });
    const result = await command.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 2 } });
    expect(await listAffected(folder)).toEqual(['BR-1', 'BR-4']);
    expect(service.calls).toHaveLength(1);
    expect(result.stderr).not.toContain('warning');
  });

  it('that is older than the upload by its own clock is accepted: it was not there before', async () => {
    const { folder, lastCall } = await prepare();
    const { command } = await startWaiting(folder);
    const content = lastCall().renderResult({ affected: ['BR-2'] });
    await writeFile(server().disk(resultPath), content);
    await utimes(server().disk(resultPath), new Date('2026-11-01'), new Date('2026-11-01'));
    expectReport(await command.ended, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect(archiveOfDay(folder).read('20112026_Result.csv').toString()).toBe(content);
  });

  it('that existed before the upload is archived, removed and never accepted', async () => {
    const { folder, lastCall, listRemote } = await prepare();
    makeRemoteFolder(server(), remoteFolder);
    const old = 'Service Mappings Id,BookingReferenceId,IsCorrectMapping\n100001,BR-1,False\n';
    writeFileSync(server().disk(resultPath), old);
    const { command } = await startWaiting(folder);
    expect(listRemote()).toEqual(['20112026.csv']);
    const kept = `earlier-${sha256Of(old).slice(0, 12)}-20112026_Result.csv`;
    expect(archiveOfDay(folder).read(kept).toString()).toBe(old);
    await lastCall().writeResult({ affected: ['BR-2'] });
    expectReport(await command.ended, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect(await listAffected(folder)).toEqual(['BR-2']);
  });

  it('that grows gradually is accepted when it is whole, wherever its writing pauses', async () => {
    const { folder, lastCall } = await prepare(neverQuiet);
    const { command, ledger } = await startWaiting(folder);
    const content = lastCall().renderResult({ affected: ['BR-4'] });
    const secondLine = content.indexOf('\n') + 1;
    const lastLine = content.lastIndexOf('\n', content.length - 2) + 1;
    // Empty, in the header, after it, in a record, after one of them, and one line end before its end.
    const pauses = [0, 10, secondLine, secondLine + 5, lastLine, content.length - 1];
    for (const [index, pause] of pauses.entries()) {
      await appendFile(server().disk(resultPath), content.slice(pauses[index - 1] ?? 0, pause));
      await looked({ command, ledger }, 'result-growing');
      expect(command.hasEnded).toBe(false);
    }
    await appendFile(server().disk(resultPath), content.slice(pauses.at(-1)));
    const result = await command.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect(archiveOf(result).read('20112026_Result.csv').toString()).toBe(content);
    expect(result.stderr).not.toContain('warning');
    expect(await listAffected(folder)).toEqual(['BR-4']);
  });

  it('that is written while it is read is accepted whole', async () => {
    const many = makeBookings(3_000);
    const { folder, lastCall } = await prepare(neverQuiet);
    await folder.writeBookings(toCsv(many));
    await folder.configure({ file: { resultPollSeconds: 0.001 } });
    const { command, ledger } = await startWaiting(folder);
    const content = lastCall().renderResult({ affected: ['BR-2999'] });
    await appendFile(server().disk(resultPath), content.slice(0, 700));
    await looked({ command, ledger }, 'result-growing');
    for (let at = 700; at < content.length; at += 700)
      await appendFile(server().disk(resultPath), content.slice(at, at + 700));
    const result = await command.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 3_000, affected: 1 } });
    expect(archiveOf(result).read('20112026_Result.csv').toString()).toBe(content);
  });

  it('with fewer records than were sent fails the run once it is due, lists what it names, and the next run accepts the complete one', async () => {
    const { folder, lastCall, service } = await prepare(shortTimeout);
    const { command, ledger } = await startWaiting(folder);
    const content = lastCall().renderResult({ affected: ['BR-1', 'BR-4'] });
    // At once: a check of the empty file would count too, and find nothing to list.
    await writeFile(server().disk('unfinished'), cutLastRow(content));
    await rename(server().disk('unfinished'), server().disk(resultPath));
    await vi.waitUntil(async () => (await countChecks(ledger, 'result-growing')) > 0, {
      timeout: patienceMs,
      interval: 20,
    });
    expect(await listAffected(folder, 3)).toEqual(['BR-1']);
    const result = await command.ended;
    expectReport(result, {
      exitCode: 1,
      state: 'failed',
      counts: { delivered: 4, pending: 0, affected: 1, unanswered: 1 },
    });
    expect(result.report.error).toMatchObject({
      class: 'data',
      message: expect.stringContaining('1 of 4 bookings have no verdict'),
    });
    expect(await listAffected(folder)).toEqual(['BR-1']);
    expect(await verdictOf(folder, 'BR-4')).toEqual(['unknown', 'not-in-result']);
    expect(await verdictOf(folder, 'BR-2')).toEqual(['correct', undefined]);

    expectReport(await folder.runDay(), { exitCode: 1, state: 'failed', counts: { unanswered: 1 } });
    await writeFile(server().disk(resultPath), content);
    const last = await folder.runDay();
    expectReport(last, { exitCode: 0, state: 'succeeded', counts: { affected: 2, unanswered: 0 } });
    expect(last.report.runId).toBe(result.report.runId);
    expect(archiveOf(last).read('20112026_Result.csv').toString()).toBe(content);
    expect(await listAffected(folder)).toEqual(['BR-1', 'BR-4']);
    expect(await verdictOf(folder, 'BR-4')).toEqual(['incorrect', undefined]);
    expect(service.calls).toHaveLength(1);
  });

  it('with fewer records than were sent is accepted once it is due, up to maxUnansweredShare', async () => {
    const { folder, lastCall } = await prepare(shortTimeout);
    await folder.configure({ maxUnansweredShare: 0.25 });
    const { command } = await startWaiting(folder);
    const short = cutLastRow(lastCall().renderResult({ affected: ['BR-1'] }));
    await writeFile(server().disk(resultPath), short);
    const result = await command.ended;
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 4, affected: 1, unanswered: 1 },
    });
    const words = inOneLine(result.stderr);
    expect(words).toContain('warning: the result was accepted although incomplete: 3 records for 4 sent');
    expect(words).toContain('bookings missing from the result: 1');
    const archive = archiveOf(result);
    expect(archive.read('20112026_Result.csv').toString()).toBe(short);
    expect(archive.readManifest()).toMatchObject({
      result: { rows: 3, isWhole: false },
      verdicts: { affected: 1, unanswered: 1 },
    });
    expect(await verdictOf(folder, 'BR-4')).toEqual(['unknown', 'not-in-result']);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });

  it('that names only incorrect rows is accepted once it no longer changes, if the service works like that', async () => {
    const { folder, lastCall } = await prepare({ resultNames: 'incorrect' });
    const { command } = await startWaiting(folder);
    const [header = '', , second = ''] = lastCall()
      .renderResult({ affected: ['BR-2'] })
      .split('\n');
    await writeFile(server().disk(resultPath), `${header}\n${second}\n`);
    expectReport(await command.ended, {
      exitCode: 0,
      state: 'succeeded',
      counts: { affected: 1, unanswered: 0 },
    });
    expect(await listAffected(folder)).toEqual(['BR-2']);
    expect(await verdictOf(folder, 'BR-1')).toEqual(['correct', undefined]);
  });

  it('without a last line end is accepted once it no longer changes', async () => {
    const { folder, lastCall } = await prepare();
    const { command } = await startWaiting(folder);
    const content = lastCall()
      .renderResult({ affected: ['BR-4'] })
      .trimEnd();
    await writeFile(server().disk(resultPath), content);
    const result = await command.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1, unanswered: 0 } });
    expect(archiveOf(result).read('20112026_Result.csv').toString()).toBe(content);
  });

  it.each([
    ['replaces it', undefined],
    ['comes under another name of the pattern', '_0002'],
  ])(
    'of other bookings is archived and ignored, and the right one is accepted when it %s',
    async (_, infix) => {
      const { folder, lastCall, listRemote } = await prepare();
      const { command, ledger } = await startWaiting(folder);
      const foreign = lastCall().renderResult({ records: strangers, affected: ['BR-901'] });
      await writeFile(server().disk(resultPath), foreign);
      await looked({ command, ledger }, 'result-absent');
      const kept = `foreign-${sha256Of(foreign).slice(0, 12)}-20112026_Result.csv`;
      expect(archiveOfDay(folder).read(kept).toString()).toBe(foreign);
      expect(await countChecks(ledger, 'result-not-ours')).toBe(1);
      expect(command.hasEnded).toBe(false);

      const right = { affected: ['BR-3'], ...(infix !== undefined && { infix }) };
      await lastCall().writeResult(right);
      const result = await command.ended;
      const resultName = `20112026${infix ?? ''}_Result.csv`;
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
      expect(result.json).toMatchObject({ file: { resultName } });
      expect(await listAffected(folder)).toEqual(['BR-3']);
      const archive = archiveOf(result);
      expect(archive.names()).toEqual(['20112026.csv', resultName, kept, 'manifest.json'].sort());
      expect(archive.read(resultName).toString()).toBe(lastCall().renderResult(right));
      expect(listRemote()).toContain(resultName);
      expect((await folder.run(['verify', day])).exitCode).toBe(0);
    },
  );

  it('of other bookings is named by the run that waits, and by status', async () => {
    const { folder, lastCall } = await prepare(shortTimeout);
    const { command } = await startWaiting(folder);
    const records = [...strangers, { ...strangers[0], BookingReferenceId: 'BR-1' }];
    const foreign = lastCall().renderResult({ records });
    await writeFile(server().disk(resultPath), foreign);
    const result = await command.ended;
    expectReport(result, { exitCode: 3, state: 'awaiting-result', counts: { affected: null } });
    const archivedAs = `foreign-${sha256Of(foreign).slice(0, 12)}-20112026_Result.csv`;
    const resultsSetAside = [{ name: '20112026_Result.csv', archivedAs, foreign: 4, ours: 1 }];
    expect(result.json).toMatchObject({ file: { resultRowsIgnored: null, resultsSetAside } });
    const words = 'the result 20112026_Result.csv was set aside: 4 rows about other bookings, 1 about ours';
    expect(inOneLine(result.stderr)).toContain(`warning: ${words}`);
    expect(inOneLine((await folder.run(['status'])).stdout)).toContain(words);
    expect(inOneLine((await folder.run(['status', day])).stdout)).toContain(words);
  });

  it('with rows that are not ours is accepted for those that are', async () => {
    const { folder, lastCall } = await prepare();
    const { command } = await startWaiting(folder);
    const [header = '', ...rows] = lastCall()
      .renderResult({ affected: ['BR-1'] })
      .split('\n');
    const others = [header, ...rows.slice(0, 1).map((row) => row.replace('BR-1', 'BR-902')), 'Total,4,,,1'];
    const content = [header, ...rows.slice(0, -1), ...others, ''].join('\n');
    await writeFile(server().disk(resultPath), content);
    const result = await command.ended;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1, unanswered: 0 } });
    expect(result.json).toMatchObject({ file: { resultRowsIgnored: 3 } });
    expect(inOneLine(result.stderr)).toContain(
      'warning: result rows that name no booking of the file, such as totals: 3; they are ignored',
    );
    expect(await listAffected(folder)).toEqual(['BR-1']);
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });
});

describe.each(everySftpKind.map((kind) => [kind.name, kind] as const))(
  'an old result that %s refuses to remove',
  (_, kind) => {
    const server = useSftpServer(kind);

    it('is archived, remembered and never accepted; the new one is, under the same name', async ({
      skip,
    }) => {
      skip(!runsAsRoot, 'needs root: only another user can leave files that the session may not remove');
      const { folder, service, listRemote } = await prepareFileDay(server(), {
        bookings: toCsv(bookings),
        settings: { file: briefTimeout },
        onCall: () => success,
      });
      makeRemoteFolder(server(), remoteFolder);
      chownSync(server().disk(remoteFolder), 0, 0);
      chmodSync(server().disk(remoteFolder), 0o1777);
      const records = bookings.map(
        ({ BookingReferenceId, ServiceId }) => `${ServiceId},${BookingReferenceId},False`,
      );
      const old = ['Service Mappings Id,BookingReferenceId,IsCorrectMapping', ...records, ''].join('\n');
      writeFileSync(server().disk(resultPath), old);

      const first = await folder.runDay();
      expectReport(first, {
        exitCode: 3,
        state: 'awaiting-result',
        counts: { delivered: 4, affected: null },
      });
      expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
      expect(existsSync(server().disk(remotePath))).toBe(true);
      expect(sessionUser.uid).not.toBe(0);
      const kept = `earlier-${sha256Of(old).slice(0, 12)}-20112026_Result.csv`;
      expect(archiveOfDay(folder).read(kept).toString()).toBe(old);
      expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });

      await service.calls[0]?.writeResult({ affected: ['BR-2'] });
      const last = await folder.runDay();
      expectReport(last, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
      expect(await listAffected(folder)).toEqual(['BR-2']);
      expect(archiveOf(last).names()).toEqual(['20112026.csv', '20112026_Result.csv', kept, 'manifest.json']);
      expect(service.calls).toHaveLength(1);
    });
  },
);
