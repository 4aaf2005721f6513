import { expect, it, vi } from 'vitest';
import { type DayFolder, day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { type FileCall, parseRecords } from '../support/file-service.js';
import { type StandInAnswer, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);

/** `serve` starts nothing by itself, and catches up on no day: looks go on regardless. */
const settings = {
  schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
  file: { resultTimeoutMinutes: 0.005 },
};

interface ShownRun {
  readonly state: string;
  readonly error?: { readonly class: string };
}

async function latestRun(folder: DayFolder): Promise<ShownRun> {
  const { json } = await folder.run(['status', day, '--json']);
  const [run] = (json as { runs: ShownRun[] }).runs;
  return run ?? { state: 'none' };
}

/** What `serve` logs until it does so. It looks for results when it starts. */
async function serveUntil(folder: DayFolder, isReached: () => Promise<boolean>): Promise<string> {
  const serving = folder.call(['serve', '--port', '0']);
  await serving.wrote('"serving"');
  await vi.waitUntil(isReached, { timeout: patienceMs, interval: 50 });
  serving.stop('SIGTERM');
  await serving.ended;
  return serving.stderr;
}

async function prepare(onCall: (call: FileCall) => StandInAnswer = () => success) {
  const bookings = toCsv(makeBookings(4));
  return prepareFileDay(server(), { bookings, settings, onCall });
}

it('a result that comes late is found by serve, whatever its day, and again after an incomplete one', async () => {
  const { folder, service } = await prepare();
  expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
  const [call] = service.calls;
  if (!call) throw new Error('expected a by-file call');

  await call.writeResult({ records: parseRecords(call.file).slice(0, 3) });
  await serveUntil(folder, async () => (await latestRun(folder)).state === 'failed');
  expect(await latestRun(folder)).toMatchObject({ error: { class: 'data' } });

  // A look at the judged bytes changes nothing, whatever their time.
  const before = await folder.run(['status', day, '--json']);
  const lookedAt = Date.now();
  const log = await serveUntil(folder, async () => Date.now() - lookedAt > 1_500);
  expect(log).not.toContain('duty begun');
  expect((await folder.run(['status', day, '--json'])).json).toEqual(before.json);

  await call.writeResult({ affected: ['BR-2'] });
  await serveUntil(folder, async () => (await latestRun(folder)).state === 'succeeded');
  const { exitCode, json } = await folder.run(['affected', day, '--json']);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ affected: [{ BookingReferenceId: 'BR-2' }], unanswered: 0 });
  expect(service.calls).toHaveLength(1);
});

it('a file that the service refused fails as refused, and waits for a person', async () => {
  const { folder, service } = await prepare(() => ({ kind: 'text', status: 422, body: 'no' }));
  const { report, exitCode } = await folder.runDay();
  expect(exitCode).toBe(1);
  expect(report.error?.class).toBe('refused');
  expect(service.calls).toHaveLength(1);
});
