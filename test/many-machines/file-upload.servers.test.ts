import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { type FileDay, prepareFileDay, remoteFolder, remotePath } from '../support/file-day.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { freeze } from '../support/processes.js';
import { openSsh } from '../support/sftp-programs.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { makeRemoteFolder, startForSuite, usePostgres, useRedis } from '../support/use-servers.js';
import { type DatabaseWatch, watchDatabase } from './database-watch.js';
import { callWorker, sharedSettings, startWorker } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();
const newServer = startForSuite(openSsh);

const bookings = 8_000;
/** In bytes; the file has more than twice as many. */
const midway = 200_000;

describe('the worker that uploads the file', () => {
  it('is killed in mid-upload: the other one uploads it, calls once, and leaves nothing behind', async () => {
    const fileDay = await prepareSharedFileDay();
    const first = await startWorker(fileDay.folder);
    const stopped = stopWhen(fileDay, first, 'SIGKILL', (size) => size > midway);
    await detach(fileDay);
    expect(await stopped).toBeGreaterThan(midway);
    expect((await first.ended).signal).toBe('SIGKILL');
    expect(fileDay.listRemote()).toEqual([expect.stringMatching(/\.part$/)]);
    await callWorker(fileDay.folder);
    await expectWhole(fileDay);
  });

  it.each<[string, (size: number) => boolean]>([
    ['in mid-upload', (size) => size > midway],
    ['when all its data is uploaded, before the file gets its name', (size) => size === wholeSize],
  ])('is frozen %s: when it thaws, the other one’s file stays as it is', async (_, isDue) => {
    const fileDay = await prepareSharedFileDay();
    const first = await startWorker(fileDay.folder);
    const stopped = stopWhen(fileDay, first, 'SIGSTOP', isDue);
    await detach(fileDay);
    await stopped;
    await freeze(first);
    await callWorker(fileDay.folder);
    await expectWhole(fileDay);
    const published = describePublished(fileDay);
    const steps = await fileDay.database.query('SELECT * FROM hotel_review.steps ORDER BY position');

    first.kill('SIGCONT');
    await first.wrote('superseded');
    expect(describePublished(fileDay)).toEqual(published);
    expect(await fileDay.database.query('SELECT * FROM hotel_review.steps ORDER BY position')).toEqual(steps);
    await expectWhole(fileDay);
    expect(first.hasEnded).toBe(false);
  });
});

/** The size in bytes of the review file of these bookings. */
const wholeSize = Buffer.byteLength(renderFile());

interface SharedFileDay extends FileDay {
  readonly database: DatabaseWatch;
  readonly proxy: TcpProxy;
}

async function prepareSharedFileDay(): Promise<SharedFileDay> {
  const server = newServer();
  makeRemoteFolder(server, remoteFolder);
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  const url = await postgres().createDatabase();
  const fileDay = await prepareFileDay(server, {
    bookings: toCsv(makeBookings(bookings)),
    port: proxy.port,
    settings: { ...sharedSettings(url, redis().url), body: { batchSize: 500 } },
  });
  return { ...fileDay, proxy, database: watchDatabase(url) };
}

async function detach({ folder }: SharedFileDay): Promise<void> {
  expect((await folder.run(['run', '--day', day, '--detach'])).exitCode).toBe(0);
}

/** Freezes the worker between two chunks of the upload, once this much has arrived; returns how much has. */
function stopWhen(
  { proxy, server }: SharedFileDay,
  worker: RunningCommand,
  how: 'SIGKILL' | 'SIGSTOP',
  isDue: (size: number) => boolean,
): Promise<number> {
  return new Promise((resolve) => {
    proxy.beforePassing(() => {
      const size = measureTemporary(server.disk(remoteFolder));
      if (size === undefined || !isDue(size)) return;
      worker.kill(how);
      proxy.beforePassing(() => {});
      resolve(size);
    });
  });
}

/** The size of the upload under its temporary name. */
function measureTemporary(folder: string): number | undefined {
  const name = readdirSync(folder).find((found) => found.endsWith('.part'));
  return name === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false })?.size;
}

async function expectWhole({ folder, server, service, database, listRemote }: SharedFileDay): Promise<void> {
  await database.until(({ state }) => state === 'succeeded');
  expect(service.calls).toHaveLength(1);
  expect(service.calls[0]?.file?.toString() === renderFile()).toBe(true);
  expect(readFileSync(server.disk(remotePath), 'utf8') === renderFile()).toBe(true);
  expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
  const { json } = await folder.run(['status', day, '--json']);
  expect(json).toMatchObject({
    runs: [
      {
        state: 'succeeded',
        counts: { read: bookings, accepted: bookings, delivered: bookings, refused: 0, pending: 0 },
        file: { rows: bookings },
      },
    ],
  });
}

/** The same file, not one that replaced it. */
function describePublished({ server }: SharedFileDay) {
  const { ino, mtimeMs, size } = statSync(server.disk(remotePath));
  return { ino, mtimeMs, size };
}

/** The expected review file. Rendered independently here, so that the test doesn't follow the code. */
function renderFile(): string {
  const columns =
    'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
  const rows = makeBookings(bookings).map((booking) =>
    Object.values({ ...booking, CheckInDate: '01122026', CheckOutDate: '08122026' }).join(','),
  );
  return [columns, ...rows, ''].join('\n');
}
