import { expect, it, vi } from 'vitest';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);

it('a result that comes late is found by serve, whatever its day', async () => {
  const { folder, service } = await prepareFileDay(server(), {
    bookings: toCsv(makeBookings(4)),
    // It starts nothing by itself, and catches up on no day.
    settings: { schedule: { cron: '0 0 1 1 *', catchUpDays: 0 }, file: { resultTimeoutMinutes: 0.005 } },
    onCall: () => success,
  });
  expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
  await service.calls[0]?.writeResult({ affected: ['BR-2'] });
  const serving = folder.call(['serve', '--port', '0']);
  const listAffected = async () => (await folder.run(['affected', day, '--json'])).json;
  await vi.waitUntil(async () => JSON.stringify(await listAffected()).includes('BR-2'), {
    timeout: patienceMs,
    interval: 50,
  });
  serving.stop('SIGTERM');
  await serving.ended;
  expect(await listAffected()).toMatchObject({ state: 'succeeded', unanswered: 0 });
  expect(service.calls).toHaveLength(1);
});
