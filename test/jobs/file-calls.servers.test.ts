import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day, type Settings } from '../support/day-folder.js';
import { attemptCodes, expectReport } from '../support/expectations.js';
import { type FileDay, prepareFileDay, remotePath } from '../support/file-day.js';
import { createGate } from '../support/gate.js';
import { refusal, type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const bookings = makeBookings(4);

const httpError = (status: number, headers = {}): StandInAnswer => ({
  kind: 'text',
  status,
  body: '<h1>Oops</h1>',
  headers,
});

/** The first calls get these answers; every later one gets success and a result. */
function prepare(answers: readonly StandInAnswer[], settings: Settings = {}): Promise<FileDay> {
  const waiting = [...answers];
  return prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings,
    async onCall(call) {
      const answer = waiting.shift();
      if (answer) return answer;
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
}

/** Identifies the file on the server: different after every upload. */
const fileOnServer = () => {
  const { ino, mtimeMs } = statSync(server().disk(remotePath));
  return { ino, mtimeMs };
};

describe('a by-file call that the service did not accept', () => {
  it.each([
    ['429 without Retry-After', httpError(429)],
    ['2001 inside a 200', refusal(2001)],
    ['2030 inside a 200', refusal(2030)],
  ])('with %s is repeated without a second upload, and nothing counts as repeated', async (_, answer) => {
    const { folder, service } = await prepare([answer, answer]);
    const result = await folder.runDay();
    const counts = { delivered: 4, repeated: 0, affected: 1 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls.map(({ path }) => path)).toEqual([remotePath, remotePath, remotePath]);
    expect(await attemptCodes(folder.watchLedger(), 'upload')).toEqual(['ok']);
    expect(archiveOf(result).readManifest().calls).toMatchObject([
      { outcome: 'retry' },
      { outcome: 'retry' },
      { outcome: 'done', code: 'ok' },
    ]);
  });

  it('with 429 and Retry-After is repeated no earlier than requested, and no try is spent', async () => {
    const { folder, service, standIn } = await prepare([httpError(429, { 'retry-after': '1' })], {
      retry: { tries: 1 },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 4, repeated: 0 } });
    expect(service.calls).toHaveLength(2);
    const [asked, again] = standIn.requests;
    expect((again?.at ?? 0) - (asked?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('with 2020 inside a 200 fails the run, which says what failed; the next run repeats the call, not the upload', async () => {
    const { folder, service } = await prepare([refusal(2020, 'no such file for Guest 1')]);
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 4 } });
    expect(first.report.error?.message).toContain('trigger failed with code-2020');
    expect(first.report.error?.message).toContain(
      `the service was told ${remotePath} (no prefix), which is ${server().root}/${remotePath} on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix, then run ${day} again`,
    );
    expect(first.stderr).toContain(`Once the cause is fixed: hotel-review run --day ${day}`);
    expect(await attemptCodes(folder.watchLedger(), 'trigger')).toEqual(['code-2020']);
    expect(`${first.stdout}${first.stderr}`).not.toContain('Guest 1');
    expect((await folder.run(['show', 'BR-1', '--answers'])).stdout).toContain('no such file');
    expect(service.calls).toHaveLength(1);
    const uploaded = fileOnServer();

    const again = await folder.runDay();
    const counts = { delivered: 4, repeated: 0, affected: 1 };
    expectReport(again, { exitCode: 0, state: 'succeeded', counts });
    expect(again.report.runId).toBe(first.report.runId);
    expect(service.calls).toHaveLength(2);
    expect(await attemptCodes(folder.watchLedger(), 'upload')).toEqual(['ok']);
    expect(fileOnServer()).toEqual(uploaded);
  });

  it('with 404 names the path and its settings, and only these once other calls were accepted', async () => {
    const { folder, service } = await prepare([httpError(404), httpError(404)]);
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 4 } });
    const named = /VerifyMappings\/112026\/20112026\.csv.* file\.sftp\.root and file\.ftpFilePathPrefix/;
    expect(first.report.error?.message).toMatch(named);
    expect(first.report.error?.message).toContain('If service.baseUrl is right');
    expect(service.calls).toHaveLength(1);

    const mixed = [
      ...bookings,
      ...makeBookings(1, { first: 9 }).map((one) => ({ ...one, ProviderName: '' })),
    ];
    const withBatch = await prepareFileDay(server(), {
      bookings: toCsv(mixed),
      async onCall() {
        await withBatch.standIn.received(1);
        return httpError(404);
      },
    });
    await withBatch.folder.runDay();
    const again = await withBatch.folder.runDay();
    expectReport(again, { exitCode: 1, state: 'failed', counts: { delivered: 1, pending: 4 } });
    expect(again.report.error?.message).toMatch(named);
    expect(again.report.error?.message).toContain('The service has accepted earlier calls');
    expect(again.report.error?.message).not.toContain('baseUrl');
  });

  it('that has used all its tries fails the run, and the next one repeats it', async () => {
    const { folder, service } = await prepare([httpError(429), httpError(429)], { retry: { tries: 2 } });
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 4 } });
    expect(first.report.error?.message).toContain('trigger failed with http-429');
    const uploaded = fileOnServer();
    expectReport(await folder.runDay(), {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 4, repeated: 0 },
    });
    expect(service.calls).toHaveLength(3);
    expect(fileOnServer()).toEqual(uploaded);
  });

  it('with 403 stops the run at once, including batches; the next run delivers them once the cause is fixed', async () => {
    let isFixed = false;
    let isCalled = false;
    const answered = createGate();
    const incomplete = makeBookings(3, { first: 11 }).map((booking) => ({ ...booking, ProviderName: '' }));
    const { folder, service, standIn } = await prepareFileDay(server(), {
      bookings: toCsv([...bookings, ...incomplete]),
      // The batches outlast the upload, with one worker left for the file, and seldom try while the run is being stopped.
      settings: {
        body: { batchSize: 1, concurrency: 4 },
        retry: { tries: 100, baseSeconds: 2, capSeconds: 2 },
      },
      async onCall(call) {
        isCalled = true;
        if (!isFixed) {
          setImmediate(answered.open);
          return httpError(403);
        }
        await call.writeResult();
        return success;
      },
      async onPost() {
        if (isFixed) return success;
        // A batch that arrives while the call waits for its answer has its own after that.
        if (isCalled) await answered.passed;
        return httpError(503);
      },
    });
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 7 } });
    expect(first.report.error).toMatchObject({
      class: 'fatal',
      message: expect.stringMatching(/^trigger of run \S+ ended with http-403, .*apiKey/),
    });
    expect(service.calls).toHaveLength(1);
    // Batches in flight may still arrive, once each.
    const callAt = standIn.requests.findIndex(({ url }) => url.includes('ByFile'));
    expect(callAt).toBeGreaterThan(0);
    expect(standIn.requests.slice(callAt + 1).length).toBeLessThanOrEqual(3);
    const uploaded = fileOnServer();

    isFixed = true;
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 7 } });
    // A batch whose answer was still on its way when the run stopped.
    expect(again.report.counts.repeated).toBeLessThanOrEqual(3);
    expect(again.report.runId).toBe(first.report.runId);
    expect(service.calls).toHaveLength(2);
    expect(standIn.accepted()).toHaveLength(3);
    expect(fileOnServer()).toEqual(uploaded);
  });
});

type Silence = readonly [string, StandInAnswer];
/** In the nightly suite only: the tests of the service's client cover each of them. */
const furtherSilences: readonly Silence[] = [
  ['is dropped in mid-answer', { kind: 'drop', when: 'mid-answer' }],
  ['is answered with an HTML page', httpError(200)],
  ['is answered with 504', httpError(504)],
];
/** Ways in which the service leaves open whether it received the call. */
const silences: readonly Silence[] = [
  ['is never answered', { kind: 'hang' }],
  ['is dropped after it was read', { kind: 'drop', when: 'after-reading' }],
  ['is answered with 503', httpError(503)],
  ...(isNightly ? furtherSilences : []),
];

describe('a by-file call of unknown outcome', () => {
  const settings = { service: { timeoutSeconds: 1 } };

  it.each(silences)('that %s is not repeated when its result is there', async (_, silence) => {
    const { folder, service } = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings,
      async onCall(call) {
        await call.writeResult({ affected: ['BR-4'] });
        return silence;
      },
    });
    const result = await folder.runDay();
    const counts = { delivered: 4, pending: 0, repeated: 0, affected: 1 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls).toHaveLength(1);
    expect(archiveOf(result).readManifest().calls).toMatchObject([
      { outcome: 'retry' },
      { outcome: 'done', code: 'result-found' },
    ]);
  });

  it.each(silences)(
    'that %s is repeated once when there is no result, and counts as repeated',
    async (_, silence) => {
      const { folder, service } = await prepare([silence], settings);
      const result = await folder.runDay();
      const counts = { delivered: 4, pending: 0, repeated: 4, affected: 1 };
      expectReport(result, { exitCode: 0, state: 'succeeded', counts });
      expect(service.calls).toHaveLength(2);
      expect(await attemptCodes(folder.watchLedger(), 'upload')).toEqual(['ok']);
    },
  );

  it('and without tries left is not repeated by the next run when its result has arrived meanwhile', async () => {
    const { folder, service } = await prepare([{ kind: 'drop', when: 'after-reading' }], {
      retry: { tries: 1 },
    });
    const first = await folder.runDay();
    expectReport(first, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 4, repeated: 0 } });
    await service.calls[0]?.writeResult({ affected: ['BR-1', 'BR-2'] });
    const again = await folder.runDay();
    const counts = { delivered: 4, pending: 0, repeated: 0, affected: 2 };
    expectReport(again, { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls).toHaveLength(1);
  });

  it.each([
    ['a 429', httpError(429)],
    ['2001 inside a 200', refusal(2001)],
  ])('is still not repeated after %s when its result has arrived meanwhile', async (_, clearAnswer) => {
    const { folder, service } = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings,
      async onCall(call) {
        if (call.number === 1) return httpError(503);
        await service.calls[0]?.writeResult({ affected: ['BR-4'] });
        return clearAnswer;
      },
    });
    const result = await folder.runDay();
    const counts = { delivered: 4, pending: 0, repeated: 0, affected: 1 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls).toHaveLength(2);
    expect(await attemptCodes(folder.watchLedger(), 'trigger')).toEqual([
      'http-503',
      expect.any(String),
      'result-found',
    ]);
  });

  it.each([
    ['a clear refusal', refusal(2020), {}],
    ['a refused key', httpError(403), {}],
    ['its last try', httpError(429), { retry: { tries: 2 } }],
  ])(
    'is not repeated by the next run after %s when its result has arrived meanwhile',
    async (_, end, more) => {
      const { folder, service } = await prepare([httpError(503), end], { ...settings, ...more });
      const first = await folder.runDay();
      expectReport(first, {
        exitCode: 1,
        state: 'failed',
        counts: { delivered: 0, pending: 4, repeated: 0 },
      });
      await service.calls[0]?.writeResult({ affected: ['BR-1', 'BR-2'] });
      const again = await folder.runDay();
      const counts = { delivered: 4, pending: 0, repeated: 0, affected: 2 };
      expectReport(again, { exitCode: 0, state: 'succeeded', counts });
      expect(service.calls).toHaveLength(2);
    },
  );

  it('counts as repeated once when a clear answer comes before the one that accepts it', async () => {
    const { folder, service } = await prepare([httpError(503), httpError(429)], settings);
    const counts = { delivered: 4, pending: 0, repeated: 4, affected: 1 };
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls).toHaveLength(3);
  });

  it.each([
    ['about other bookings', { records: [{ BookingReferenceId: 'XX-1', 'Service Mappings Id': '999' }] }],
    ['about no booking at all', { records: [] }],
  ])('is repeated when there is only a result %s', async (_, strange) => {
    const { folder, service } = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings: { file: { resultQuietSeconds: 600 } },
      async onCall(call) {
        await call.writeResult(call.number === 1 ? strange : { affected: ['BR-4'] });
        return call.number === 1 ? { kind: 'drop', when: 'after-reading' } : success;
      },
    });
    const result = await folder.runDay();
    const counts = { delivered: 4, pending: 0, repeated: 4, affected: 1 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expect(service.calls).toHaveLength(2);
  });
});
