import { expect, it, vi } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres } from '../support/use-servers.js';

const postgres = usePostgres();

it('a stop for which the ledger does not respond is given up: exit code 1 and one JSON object', async () => {
  const ledger = await postgres().createDatabase();
  const { standIn, folder } = await prepareDay(
    {
      bookings: toCsv(makeBookings(100)),
      settings: { ledger, workers: { stopSeconds: 0.1 } },
      hasWorkers: false,
    },
    async () => ({ kind: 'hang' }),
  );
  const command = folder.start(['run', '--day', '2026-11-20', '--json']);
  await standIn.received(1);
  const release = await lockRuns(ledger);
  command.kill('SIGTERM');
  const { exitCode, stdout, stderr } = await command.ended;
  await release();
  const message = 'something did not stop in time and was abandoned; the ledger knows what is left';
  expect(exitCode).toBe(1);
  expect(stdout).toBe(`${JSON.stringify({ error: { class: 'stopped', message } })}\n`);
  expect(stderr).toContain(`hotel-review: ${message}\n`);
  const { json } = await folder.run(['status', '2026-11-20', '--json']);
  expect(json).toMatchObject({ runs: [{ state: 'delivering', counts: { pending: 100 } }] });
});

/** From then on the ledger answers no query about runs. */
async function lockRuns(url: string): Promise<() => Promise<void>> {
  const { query } = postgres();
  const held = query(url, 'BEGIN; LOCK TABLE hotel_review.runs; SELECT pg_sleep(600)').catch(() => {});
  const ofLock = "FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation IS NOT NULL";
  await vi.waitUntil(async () => (await query(url, `SELECT 1 ${ofLock}`)).length > 0, {
    timeout: patienceMs,
  });
  return async () => {
    await query(url, `SELECT pg_terminate_backend(pid) ${ofLock}`);
    await held;
  };
}
