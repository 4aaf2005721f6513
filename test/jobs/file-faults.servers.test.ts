import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { day, type Settings } from '../support/day-folder.js';
import { engine } from '../support/engine.js';
import { attemptCodes } from '../support/expectations.js';
import { type FileDay, prepareFileDay, remoteFolder, remotePath } from '../support/file-day.js';
import { holdTimers } from '../support/held-timers.js';
import type { LedgerWatch } from '../support/ledger-watch.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { findFreePort, type RunningSftpServer } from '../support/sftp-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { makeRemoteFolder, sftpKindsForFaults, useSftpServer } from '../support/use-servers.js';
import { expectFailedStep, expectWholeDay, toReviewFile } from '../support/whole-day.js';
import { type PublishedWatch, watchPublished } from './published-files.js';

/** A file that takes many packets, and one that is uploaded in an instant. */
const many = makeBookings(4_000);
const few = makeBookings(60);
const manyBytes = toReviewFile(many).length;

/** How long a run waits for an answer of the SFTP server. */
const longestSilenceMs = 30_000;

const inTheMiddle = ['in the middle of the data', Math.floor(manyBytes / 2)] as const;
/** Outside the nightly suite, a single run meets the others, one after the other. */
const resets = [
  ['in the greeting', 10],
  ['in the handshake', 1_200],
  inTheMiddle,
  ['just at the end of the data', manyBytes],
] as const;

interface FaultyDay extends FileDay {
  /** Sits between the command and its server. */
  readonly proxy: TcpProxy;
  readonly ledger: LedgerWatch;
  readonly watch: PublishedWatch;
}

async function prepareFaultyDay(
  server: RunningSftpServer,
  { bookings = few, tries = 6 }: { bookings?: typeof few; tries?: number } = {},
): Promise<FaultyDay> {
  makeRemoteFolder(server, remoteFolder);
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  const settings: Settings = { retry: { tries } };
  const prepared = await prepareFileDay(server, { bookings: toCsv(bookings), port: proxy.port, settings });
  const ledger = prepared.folder.watchLedger();
  return { ...prepared, proxy, ledger, watch: watchPublished(server) };
}

/** The size of the file being uploaded under its temporary name; undefined when there is none. */
function measurePart(server: RunningSftpServer): number | undefined {
  const folder = server.disk(remoteFolder);
  const name = readdirSync(folder).find((found) => found.endsWith('.part'));
  // It may get its final name in this very moment.
  return name === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false })?.size;
}

describe.each(sftpKindsForFaults)('a day by file over $name', (kind) => {
  const server = useSftpServer(kind);
  const isPublished = () => existsSync(server().disk(remotePath));

  it.each(isNightly ? resets : [inTheMiddle])(
    'whose connection is reset %s, every time, fails; the next run completes it',
    async (_, bytes) => {
      const faulty = await prepareFaultyDay(server(), { bookings: many, tries: 2 });
      const { folder, proxy, watch, service } = faulty;
      proxy.resetAfter(bytes);
      expectFailedStep(await folder.runDay(), { step: 'upload', code: 'sftp-connection-lost' });
      expect(proxy.happened.resets).toBe(2);
      expect(isPublished()).toBe(false);
      // There is a partial file exactly when the reset came in the middle of the data.
      const part = measurePart(server());
      if (bytes < 10_000) expect(part).toBeUndefined();
      else expect(part).toBeLessThan(manyBytes);
      expect(service.calls).toEqual([]);

      proxy.heal();
      expectWholeDay(faulty, await folder.runDay(), { bookings: many });
      await watch.expectOnly(toReviewFile(many));
    },
  );

  it('whose connection is reset again and again, each time a little later, is completed by one run', async () => {
    const faulty = await prepareFaultyDay(server(), { bookings: many, tries: 100 });
    const { folder, proxy, watch } = faulty;
    const places = [10, 500, 1_000, 1_500, 2_000, 2_500, 3_000, Math.floor(manyBytes / 3), manyBytes - 100];
    const among = places.length;
    // After the data, the file is closed, checked, read back and renamed: continue until all of that is over.
    const nextPlace = () => places.shift() ?? manyBytes + 1_300 + 200 * (proxy.happened.resets - among);
    let resets = 0;
    proxy.resetAfter(nextPlace());
    proxy.beforePassing(() => {
      if (proxy.happened.resets === resets) return;
      resets = proxy.happened.resets;
      proxy.resetAfter(nextPlace());
    });
    expectWholeDay(faulty, await folder.runDay(), { bookings: many });
    await watch.expectOnly(toReviewFile(many));
    expect(resets).toBeGreaterThan(among + 10);
  });

  it.each([['out of tries', 1] as const, ...(isNightly ? [['with tries left', 2] as const] : [])])(
    'that loses the answer to the rename, %s, is whole in the end, with one by-file call',
    async (_, tries) => {
      const faulty = await prepareFaultyDay(server(), { tries });
      const { folder, proxy, watch, ledger, service } = faulty;
      proxy.beforePassing((to) => {
        if (to === 'client' && isPublished()) proxy.dropAnswersAfter(0);
      });
      const silence = holdTimers(longestSilenceMs);
      const command = folder.call(['run', '--day', day, '--json']);
      await vi.waitUntil(() => proxy.happened.swallowedChunks > 0, { timeout: patienceMs });
      expect([isPublished(), measurePart(server())]).toEqual([true, undefined]);
      const gone = proxy.clientsGone();
      await silence.pass();
      await gone;
      proxy.heal();
      const first = await command.ended;
      if (tries === 1) {
        expectFailedStep(first, { step: 'upload', code: 'sftp-no-progress' });
        expect(service.calls).toEqual([]);
      }
      expectWholeDay(faulty, tries === 1 ? await folder.runDay() : first, { bookings: few });
      expect(await attemptCodes(ledger, 'upload')).toEqual(['sftp-no-progress', 'ok']);
      await watch.expectOnly(toReviewFile(few));
    },
  );

  it('whose session freezes in mid-upload abandons it and completes the day in another session', async () => {
    const faulty = await prepareFaultyDay(server(), { bookings: many });
    const { folder, proxy, watch } = faulty;
    let freezing: Promise<number> | undefined;
    proxy.beforePassing(() => {
      // The signals are sent at once.
      if ((measurePart(server()) ?? 0) > 0) freezing ??= server().freezeSessions();
    });
    const silence = holdTimers(longestSilenceMs);
    const ended = folder.runDay();
    expect(await vi.waitUntil(() => freezing, { timeout: patienceMs })).toBeGreaterThan(0);
    await silence.pass();
    expectWholeDay(faulty, await ended, { bookings: many });
    await watch.expectOnly(toReviewFile(many));
    expect(await attemptCodes(faulty.ledger, 'upload')).toEqual(['sftp-no-progress', 'ok']);
  });

  it('whose connection drops right after the rename looks again over another one, and calls once', async () => {
    const faulty = await prepareFaultyDay(server());
    const { folder, proxy, watch } = faulty;
    proxy.beforePassing(() => {
      if (proxy.happened.resets > 0) proxy.heal();
      else if (isPublished()) proxy.resetAfter(0);
    });
    expectWholeDay(faulty, await folder.runDay(), { bookings: few });
    expect(proxy.happened.resets).toBe(1);
    expect(await attemptCodes(faulty.ledger, 'upload')).toEqual(['ok']);
    await watch.expectOnly(toReviewFile(few));
  });

  it('whose connection drops between upload and call opens another and calls once', async () => {
    const faulty = await prepareFaultyDay(server());
    const { folder, proxy, ledger } = faulty;
    proxy.beforePassing(async () => {
      if (proxy.happened.resets > 0) proxy.heal();
      else if ((await ledger.run()).done === 2) proxy.resetAfter(0);
    });
    expectWholeDay(faulty, await folder.runDay(), { bookings: few });
    expect(proxy.happened.resets).toBe(1);
    expect(await attemptCodes(ledger, 'upload')).toEqual(['ok']);
    // If another process did the upload, this one has no connection to lose before its attempt starts.
    const lost = engine.performers > 1 ? ['sftp-connection-lost'] : [];
    expect([['ok'], [...lost, 'ok']]).toContainEqual(await attemptCodes(ledger, 'trigger'));
  });

  it('whose server is down fails; once it is up, the next run succeeds', async () => {
    const faulty = await prepareFaultyDay(server());
    const { folder } = faulty;
    await folder.configure({ file: { sftp: { port: await findFreePort() } } });
    expectFailedStep(await folder.runDay(), { step: 'upload', code: 'sftp-connection-refused' });
    expect(await attemptCodes(faulty.ledger, 'upload')).toEqual(Array(6).fill('sftp-connection-refused'));
    await folder.configure({});
    expectWholeDay(faulty, await folder.runDay(), { bookings: few });
  });

  it('whose server comes up while the run is retrying is completed by that run', async () => {
    const faulty = await prepareFaultyDay(server(), { tries: 100 });
    const { folder } = faulty;
    const port = await findFreePort();
    await folder.configure({ file: { sftp: { port } } });
    const command = folder.call(['run', '--day', day, '--json', '--log-level', 'debug']);
    await command.wrote('sftp-connection-refused');
    const proxy = await startTcpProxy(server().port, port);
    onTestFinished(() => proxy.stop());
    expectWholeDay(faulty, await command.ended, { bookings: few });
  });
});
