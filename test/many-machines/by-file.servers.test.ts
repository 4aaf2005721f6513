import { expect, it, vi } from 'vitest';
import { day } from '../support/day-folder.js';
import { prepareFileDay, toReviewFile } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { usePostgres, useRedis, useSftpServer } from '../support/use-servers.js';

const redis = useRedis();
const postgres = usePostgres();
const server = useSftpServer(sandboxSftp);
const bookings = makeBookings(20);

it('a day by file whose worker is killed in its call is completed by another worker: the file stays, the call is repeated', async () => {
  const { folder, service, listRemote } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: {
      ledger: await postgres().createDatabase(),
      queue: redis().url,
      workers: { leaseSeconds: 3 },
    },
    async onCall(call) {
      if (call.number === 1) {
        worker.kill('SIGKILL');
        return { kind: 'hang' };
      }
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  const worker = folder.start(['work']);
  expect((await folder.run(['run', day, '--detach'])).exitCode).toBe(0);
  expect((await worker.ended).signal).toBe('SIGKILL');

  folder.call(['work']);
  const read = async () =>
    (await folder.run(['status', day, '--json'])).json as { runs: { state: string }[] };
  await vi.waitUntil(async () => (await read()).runs[0]?.state === 'succeeded', {
    timeout: patienceMs,
    interval: 200,
  });
  const counts = { delivered: 20, repeated: 20, affected: 1, unanswered: 0 };
  expect((await read()).runs).toMatchObject([{ counts }]);
  expect(service.calls.map(({ file }) => String(file))).toEqual(Array(2).fill(toReviewFile(bookings)));
  expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
});
