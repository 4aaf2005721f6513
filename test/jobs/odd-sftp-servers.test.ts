import { existsSync, readFileSync } from 'node:fs';
import type { Attributes } from 'ssh2';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath, resultPath } from '../support/file-day.js';
import type { FileCall } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { type Oddities, startOddSftp } from '../support/odd-sftp.js';
import { patienceMs } from '../support/patience.js';
import { toReviewFile } from '../support/whole-day.js';

const bookings = makeBookings(4);

async function start(oddities: Oddities) {
  const server = await startOddSftp(oddities);
  onTestFinished(() => server.stop());
  return server;
}

const without =
  (...names: string[]) =>
  (attributes: Attributes): Partial<Attributes> =>
    Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.includes(name)));
const now = (attributes: Attributes) => ({ ...attributes, mtime: Math.floor(Date.now() / 1_000) });

it.each<[string, Oddities]>([
  ['says nothing but sizes', { describe: without('mode', 'mtime'), longname: () => '' }],
  [
    'answers FAILURE for what is missing, and cuts after renames',
    {
      missingIsFailure: true,
      cutsAfterRename: 'unanswered',
    },
  ],
  ['names no method, and gives the present time', { namesNoMethod: true, describe: now }],
])('a day and its replay are reviewed by a server that %s', async (_what, oddities) => {
  const server = await start(oddities);
  const { folder } = await prepareFileDay(server, {
    bookings: toCsv(bookings),
    async onCall(call) {
      await call.writeResult({ affected: [`BR-${call.number}`] });
      return success;
    },
  });
  const counts = { delivered: 4, unanswered: 0, affected: 1, repeated: 0 };
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts });
  expect(readFileSync(server.disk(remotePath), 'utf8')).toBe(toReviewFile(bookings));
  const again = await folder.run(['replay', day, '--reason', 'once more', '--json']);
  expectReport(again, { exitCode: 0, state: 'succeeded', counts });
  expect((await folder.run(['affected', day])).stdout).toContain('BR-2');
});

describe.each<[string, Oddities['describe']]>([
  ['no times', without('mtime')],
  ['the present time', now],
])('an old result that must stay on a server that gives %s', (_what, describe) => {
  it('is not taken for the new one, which is as large', async () => {
    const server = await start({
      ...(describe && { describe }),
      refuse: (request, path) =>
        request === 'REMOVE' && path.endsWith('_Result.csv') ? 'denied' : undefined,
    });
    const { folder } = await prepareFileDay(server, {
      bookings: toCsv(bookings),
      async onCall(call) {
        if (call.number === 1) await call.writeResult({ affected: ['BR-1'] });
        else void replaceOnceSeen(call);
        return success;
      },
    });
    async function replaceOnceSeen(call: FileCall): Promise<void> {
      const before = server.requests.length;
      const looks = () => server.requests.slice(before).filter((name) => name === 'READDIR').length;
      await vi.waitUntil(() => looks() > 6, { timeout: patienceMs });
      await call.writeResult({ affected: ['BR-2'] });
    }
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
    expect(existsSync(server.disk(resultPath))).toBe(true);

    const again = await folder.run(['replay', day, '--reason', 'once more', '--json']);

    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { affected: 1, unanswered: 0 } });
    const affected = (await folder.run(['affected', day])).stdout;
    expect(affected).toContain('BR-2');
    expect(affected).not.toContain('BR-1');
  });
});

it('a result without a time is quiet once its content has stayed the same', async () => {
  const server = await start({ describe: without('mtime') });
  const { folder } = await prepareFileDay(server, {
    bookings: toCsv(bookings),
    settings: { file: { resultNames: 'incorrect' } },
    async onCall(call) {
      const records = call.renderResult({ affected: ['BR-3'] });
      expect(records).toContain('BR-3');
      await call.writeResult({ affected: ['BR-3'] });
      return success;
    },
  });
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
});

it('a wrong root is named with the folder on the server', async () => {
  const server = await start({});
  const wrong = { ...server, root: '/nowhere' };
  const { folder } = await prepareFileDay(wrong, {
    bookings: toCsv(bookings),
    settings: { retry: { tries: 1 } },
  });
  const { exitCode, report } = await folder.runDay();
  expect(exitCode).toBe(1);
  expect(report.error?.message).toMatch(
    /^upload failed with sftp-no-such-file.*file\.sftp\.root must be .* \/nowhere\/VerifyMappings\/112026: check it/,
  );
});
