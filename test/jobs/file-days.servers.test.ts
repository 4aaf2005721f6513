import { readdirSync, readFileSync, statSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import { archiveOf, reportedFile, sha256Of } from '../support/archived-run.js';
import { csvParse, pythonCsv } from '../support/csv-readers.js';
import { accountId, apiKey, day } from '../support/day-folder.js';
import { runsEveryCase } from '../support/engine.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath, resultPath } from '../support/file-day.js';
import type { FileCall, SentRecord } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { bookingsHeader, csvOf, type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { everySftpKind, useSftpServer } from '../support/use-servers.js';

const names = ['O"Brien, "Éamon"', 'Мария Иванова', '山田 太郎', '=1+1', 'ليلى', "d'Arcy; the 3rd 🏨"];
const complete = makeBookings(names.length).map((booking, index) => ({
  ...booking,
  BookingClientName: names[index] ?? '',
}));
const [one, two, three, four] = makeBookings(4, { first: 101 });
/** None of these can go into the file; as in the source, and as they must be posted. */
const incomplete = [
  { given: { ...one, BookingClientName: 'Null' }, posted: { ...one, BookingClientName: 'Null' } },
  { given: { ...two, ProviderName: '' }, posted: omit(two, 'ProviderName') },
  { given: { ...three, BookingClientName: 'NULL' }, posted: omit(three, 'BookingClientName') },
  { given: { ...four, CheckInDate: '  ' }, posted: omit(four, 'CheckInDate') },
];
const given = incomplete.map((booking) => booking.given);
const posted = incomplete.map((booking) => booking.posted);

const mixedDay = stringify([...complete.slice(0, 3), ...given, ...complete.slice(3)], { header: true });
const incompleteDay = stringify(given, { header: true });

function omit(booking: MadeBooking | undefined, field: keyof MadeBooking): Partial<MadeBooking> {
  const { [field]: _, ...others } = { ...booking };
  return others;
}

function toSentRecord({ ServiceId, CheckInDate, CheckOutDate, ...others }: MadeBooking): SentRecord {
  const dayFirst = (date: string) => date.split('-').reverse().join('');
  return {
    'Service Mappings Id': String(ServiceId),
    ...others,
    CheckInDate: dayFirst(CheckInDate),
    CheckOutDate: dayFirst(CheckOutDate),
  };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Outside the nightly suite, the second server has only the cases in which servers differ. */
describe.each(everySftpKind.map((kind) => [kind.name, kind] as const))('a day by file over %s', (_, kind) => {
  const isEveryCase = runsEveryCase && (kind === openSsh || isNightly);
  const server = useSftpServer(kind);
  const onServer = (path: string) => readFileSync(server().disk(path));

  it('sends what the file can hold, posts the rest once, and keeps what was sent and what came back', async () => {
    const spooled: number[] = [];
    const remoteAtCall: string[][] = [];
    const { folder, standIn, service, listRemote } = await prepareFileDay(server(), {
      bookings: mixedDay,
      async onCall(call) {
        const spool = join(folder.path, 'data', 'spool');
        spooled.push(...readdirSync(spool).map((name) => modeOf(join(spool, name))));
        remoteAtCall.push(listRemote());
        await call.writeResult({ affected: ['BR-2'] });
        return success;
      },
    });
    const result = await folder.runDay();
    const counts = { read: 10, accepted: 10, rejected: 0, delivered: 10, repeated: 0, affected: 1 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });

    const [call, ...furtherCalls] = service.calls;
    expect(call?.path).toBe('VerifyMappings/112026/20112026.csv');
    expect(furtherCalls).toEqual([]);
    expect(standIn.accepted().toSorted((a, b) => Number(a.ServiceId) - Number(b.ServiceId))).toEqual(posted);
    const request = standIn.requests.find(({ url }) => url.includes('ByFile'));
    expect(request?.method).toBe('GET');
    expect(request?.rawHeaders).toEqual(expect.arrayContaining(['apikey', apiKey, 'accountId', accountId]));

    const sent = onServer(remotePath);
    const archive = archiveOf(result);
    expect(call?.file).toEqual(sent);
    expect(archive.names()).toEqual(['20112026.csv', '20112026_Result.csv', 'manifest.json']);
    expect(archive.read('20112026.csv')).toEqual(sent);
    expect(archive.read('20112026_Result.csv')).toEqual(onServer(resultPath));
    expect(result.json).toMatchObject({
      delivery: 'file',
      file: {
        remotePath,
        sha256: sha256Of(sent),
        rows: complete.length,
        resultName: '20112026_Result.csv',
        archivedTo: join(folder.path, 'data', 'archive', day, result.report.runId),
      },
    });

    expect(remoteAtCall).toEqual([['20112026.csv']]);
    expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
    expect(spooled).not.toEqual([]);
    expect(new Set(spooled)).toEqual(new Set([0o600]));
    expect(readdirSync(join(folder.path, 'data', 'spool'))).toEqual([]);
    expect(archive.names().map((name) => modeOf(join(archive.path, name)))).toEqual([0o600, 0o600, 0o600]);
  });

  if (isEveryCase) {
    it('keeps a manifest of counts, calls and checksums', async () => {
      const { folder } = await prepareFileDay(server(), {
        bookings: mixedDay,
        async onCall(call) {
          await call.writeResult({ affected: ['BR-2', 'BR-5'] });
          return success;
        },
      });
      const result = await folder.runDay();
      const archive = archiveOf(result);
      const [file, received] = [archive.read('20112026.csv'), archive.read('20112026_Result.csv')];
      expect(archive.readManifest()).toEqual({
        tool: expect.stringMatching(/^booked-hotel-review \d+\.\d+\.\d+$/),
        day,
        runId: result.report.runId,
        remotePath,
        rows: 6,
        counts: { read: 10, accepted: 10, duplicates: 0, rejected: 0 },
        result: { name: '20112026_Result.csv', rows: 6, isWhole: true },
        verdicts: { affected: 2, unanswered: 0, unclear: 0, malformed: 0 },
        calls: [
          {
            startedAt: expect.stringMatching(/^20.*Z$/),
            endedAt: expect.stringMatching(/^20.*Z$/),
            outcome: 'done',
            code: 'ok',
            httpStatus: 200,
            statusCode: 2000,
          },
        ],
        files: [
          { name: '20112026.csv', bytes: file.length, sha256: sha256Of(file) },
          { name: '20112026_Result.csv', bytes: received.length, sha256: sha256Of(received) },
        ],
      });
      expect(archive.read('manifest.json').toString()).not.toContain('Brien');
    });

    it.each([pythonCsv, csvParse].map((reader) => [reader.name, reader] as const))(
      'writes a file from which %s reads the complete bookings',
      async (_, reader) => {
        const { folder } = await prepareFileDay(server(), { bookings: mixedDay });
        expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded' });
        expect(reader.read(server().disk(remotePath))).toEqual(complete.map(toSentRecord));
      },
    );

    it('rejects what the file cannot hold if configured so, and posts nothing', async () => {
      const { folder, standIn } = await prepareFileDay(server(), {
        bookings: mixedDay,
        settings: { file: { incomplete: 'reject' }, maxRejectedShare: 0.5 },
      });
      const result = await folder.runDay();
      const counts = { read: 10, accepted: 6, rejected: 4, delivered: 6 };
      expectReport(result, { exitCode: 0, state: 'succeeded', counts });
      expect(standIn.accepted()).toEqual([]);
      expect(csvParse.read(server().disk(remotePath))).toEqual(complete.map(toSentRecord));
      const shown = await folder.run(['show', 'BR-101', '--json']);
      expect(shown.json).toMatchObject({
        bookings: [{ state: 'rejected', rejected: { reason: 'not-for-the-file' } }],
      });
      const status = await folder.run(['status', day, '--json']);
      expect(status.json).toMatchObject({ runs: [{ rejects: [{ reason: 'not-for-the-file', count: 4 }] }] });
    });

    it.each([
      ['on which nothing can go into the file', incompleteDay, posted],
      ['without a booking', `${bookingsHeader}\n`, []],
    ])('has no file and opens no SFTP connection on a day %s', async (_, bookings, expected) => {
      const proxy = await startTcpProxy(server().port);
      onTestFinished(() => proxy.stop());
      const settings = { emptyDay: 'succeed', file: { maxPostedShare: 1 } };
      const { folder, standIn, service } = await prepareFileDay(server(), {
        bookings,
        port: proxy.port,
        settings,
      });
      // A connection would fail here, and so would the run.
      proxy.resetAfter(1);
      const result = await folder.runDay();
      const counts = { accepted: expected.length, delivered: expected.length };
      expectReport(result, { exitCode: 0, state: 'succeeded', counts });
      expect(result.json).toMatchObject({ delivery: 'file', file: null });
      expect(standIn.accepted().toSorted((a, b) => Number(a.ServiceId) - Number(b.ServiceId))).toEqual(
        expected,
      );
      expect(service.calls).toEqual([]);
      expect(proxy.happened.resets).toBe(0);
      expect(readdirSync(server().disk('.'))).toEqual([]);
    });

    it('fails before anything is sent if nothing can go into the file, and says what to set', async () => {
      const { folder, standIn, service } = await prepareFileDay(server(), { bookings: incompleteDay });
      const result = await folder.runDay();
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
      expect(result.report.error).toMatchObject({
        class: 'data',
        message: expect.stringMatching(/file\.maxPostedShare allows \(50%\).*file\.incomplete: leave-empty/),
      });
      expect(standIn.accepted()).toEqual([]);
      expect(service.calls).toEqual([]);
      expect(readdirSync(server().disk('.'))).toEqual([]);
    });

    it('leaves the cells of missing fields empty if configured so', async () => {
      const { folder, standIn } = await prepareFileDay(server(), {
        bookings: incompleteDay,
        settings: { file: { incomplete: 'leave-empty' } },
      });
      const result = await folder.runDay();
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { accepted: posted.length } });
      expect(csvParse.read(server().disk(remotePath))).toHaveLength(3);
      expect(standIn.accepted()).toEqual(posted.slice(0, 1));
    });

    it('is done: run says so and makes no call', async () => {
      const { folder, service, standIn } = await prepareFileDay(server(), { bookings: csvOf(5) });
      const first = await folder.runDay();
      const [requests, file] = [standIn.requests.length, statSync(server().disk(remotePath))];
      const again = await folder.runDay();
      expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 5 } });
      expect(again.json).toEqual(first.json);
      expect(again.stderr).toContain(`${day} is already done: run ${first.report.runId}`);
      expect(service.calls).toHaveLength(1);
      expect(standIn.requests).toHaveLength(requests);
      const { ino, mtimeMs } = statSync(server().disk(remotePath));
      expect({ ino, mtimeMs }).toEqual({ ino: file.ino, mtimeMs: file.mtimeMs });
    });
  }

  it('is replayed: old files are archived, and only the new result is accepted, though it looks like the old one', async () => {
    const made = makeBookings(5);
    const affectedOf = ['BR-2', 'BR-4'];
    const second = new Date('2026-11-21T03:00:00Z');
    async function placeResult(call: FileCall): Promise<void> {
      const target = server().disk(resultPath);
      const affected = affectedOf[call.number - 1] ?? '';
      await writeFile(`${target}.tmp`, call.renderResult({ affected: [affected] }));
      await utimes(`${target}.tmp`, second, second);
      await rename(`${target}.tmp`, target);
    }
    const { folder, service, listRemote } = await prepareFileDay(server(), {
      bookings: toCsv(made),
      async onCall(call) {
        // While the second call is answered there is no result, and the old one must not be mistaken for it.
        if (call.number === 2) expect(listRemote()).toEqual(['20112026.csv']);
        await placeResult(call);
        return success;
      },
    });
    const first = await folder.runDay();
    expectReport(first, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    const earlier = { file: onServer(remotePath), result: onServer(resultPath) };

    await folder.writeBookings(toCsv(made.map((booking) => ({ ...booking, CheckOutDate: '2026-12-09' }))));
    const replayed = await folder.run(['replay', day, '--json']);
    expectReport(replayed, { exitCode: 0, state: 'succeeded', counts: { delivered: 5, affected: 1 } });
    expect(replayed.report.runId).not.toBe(first.report.runId);
    expect(service.calls).toHaveLength(2);
    expect(onServer(resultPath)).toHaveLength(earlier.result.length);

    const archive = archiveOf(replayed);
    const kept = (name: string, content: Buffer) => `earlier-${sha256Of(content).slice(0, 12)}-${name}`;
    const earlierNames = [
      kept('20112026.csv', earlier.file),
      kept('20112026_Result.csv', earlier.result),
    ] as const;
    expect(archive.names()).toEqual(
      [...earlierNames, '20112026.csv', '20112026_Result.csv', 'manifest.json'].sort(),
    );
    expect(archive.read(earlierNames[0])).toEqual(earlier.file);
    expect(archive.read(earlierNames[1])).toEqual(earlier.result);
    expect(archive.read('20112026.csv')).toEqual(onServer(remotePath));
    expect(archive.read('20112026_Result.csv')).toEqual(onServer(resultPath));
    expect(archiveOf(first).read('20112026_Result.csv')).toEqual(earlier.result);
    expect((await folder.run(['affected', day, '--json'])).json).toMatchObject({
      runId: replayed.report.runId,
      affected: [{ BookingReferenceId: 'BR-4' }],
    });
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });

  if (isEveryCase) {
    it('is delivered by file with --delivery file, though configured by body', async () => {
      const settings = { delivery: 'body' };
      const { folder, service, standIn } = await prepareFileDay(server(), { bookings: csvOf(5), settings });
      const result = await folder.run(['run', '--day', day, '--delivery', 'file', '--json']);
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 5 } });
      expect(result.report.delivery).toBe('file');
      expect(reportedFile(result).rows).toBe(5);
      expect(service.calls).toHaveLength(1);
      expect(standIn.accepted()).toEqual([]);
    });

    it('is named to the service with ftpFilePathPrefix, and has masterIdColumn as its first column', async () => {
      const disk = (path: string) => server().disk(path.replace(/^acme\//, ''));
      const { folder, service } = await prepareFileDay(
        { ...server(), disk },
        {
          bookings: csvOf(5),
          settings: { service: { masterIdColumn: 'Acme Id' }, file: { ftpFilePathPrefix: 'acme/' } },
        },
      );
      const result = await folder.runDay();
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 5 } });
      expect(service.calls.map(({ path }) => path)).toEqual([`acme/${remotePath}`]);
      expect(reportedFile(result).remotePath).toBe(remotePath);
      expect(String(service.calls[0]?.file)).toMatch(/^Acme Id,BookingReferenceId,.*\n100001,BR-1,/);
      expect((await folder.run(['verify', day])).exitCode).toBe(0);
    });
  }
});
