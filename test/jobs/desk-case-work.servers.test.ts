import { expect, it, vi } from 'vitest';
import { auditOf, reached, visitDesk, writeUsers } from '../support/desk-visit.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, stayToCome, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite } from '../support/use-servers.js';

const newServer = startForSuite(openSsh);
const day = '2026-11-20';
const hourMs = 3_600_000;

async function prepare() {
  const prepared = await prepareFileDay(newServer(), {
    bookings: toCsv(makeBookings(3, stayToCome())),
    settings: {
      server: { users: './users.json' },
      // Nothing starts by itself.
      schedule: { cron: '0 0 1 1 *', catchUpDays: 0 },
      file: { resultPollSeconds: 3_600, resultTimeoutMinutes: 600 },
    },
    onCall: () => success,
  });
  const { folder } = prepared;
  writeUsers(folder, { olga: 'operator', tom: 'team' });
  // Where runs are distributed, others may look for the result.
  await folder.processes.gather();
  return prepared;
}

it('An operator looks for a result before the next check, and the booking team works on what it names', async () => {
  const { folder, service } = await prepare();
  const olga = await visitDesk(folder, 'olga');
  await olga.act(`/days/${day}/run`);
  await reached(olga, day, 'awaiting-result');
  // From the next check on, the following one is an hour away.
  await folder.watchLedger().ageCall(2 * hourMs);
  const dueAt = await vi.waitUntil(
    async () => {
      const { nextLookAt } = await olga.look(`/days/${day}/look`);
      const at = Date.parse(String(nextLookAt));
      return at - Date.now() > hourMs / 2 && at;
    },
    { timeout: patienceMs, interval: 50 },
  );
  await service.calls[0]?.writeResult({ affected: ['BR-2'] });
  expect((await olga.act(`/days/${day}/look`, { reason: 'it is there' })).status).toBe(200);
  const { finishedAt } = await reached(olga, day, 'succeeded');
  expect(Date.parse(String(finishedAt))).toBeLessThan(dueAt);
  expect(service.calls).toHaveLength(1);
  const casesOf = async () => (await olga.look('/cases')).cases as readonly unknown[];
  await vi.waitUntil(async () => (await casesOf()).length === 1, { timeout: patienceMs });
  await olga.stop();

  const tom = await visitDesk(folder, 'tom');
  const done = [
    await tom.act('/cases/change?do=assign&id=1', { assignee: 'tom' }),
    await tom.act('/cases/change?do=report&id=1', { reason: 'ticket 9' }),
    await tom.act('/cases/1/resolve', { booking: '1', as: 'rebooked' }),
  ];
  expect(done.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await tom.look('/cases/1')).toMatchObject({
    state: 'reported',
    assignee: 'tom',
    bookingList: [{ resolvedAs: 'rebooked' }],
  });
  await tom.stop();
  expect((await auditOf(folder)).filter(({ who }) => who.endsWith('(desk)'))).toMatchObject([
    { who: 'olga (desk)', action: 'run', subject: day },
    { who: 'olga (desk)', action: 'look', subject: day, details: { reason: 'it is there' } },
    { who: 'tom (desk)', action: 'case-assigned', subject: 'case 1', details: { assignee: 'tom' } },
    { who: 'tom (desk)', action: 'case-reported', subject: 'case 1' },
    { who: 'tom (desk)', action: 'case-resolved', subject: 'case 1', details: { as: 'rebooked' } },
    { who: 'tom (desk)', action: 'case-resolved', subject: 'BR-2', details: { case: 1 } },
    { who: 'tom (desk)', action: 'case', subject: 'case 1' },
  ]);
});
