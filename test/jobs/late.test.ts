import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectError } from '../support/expectations.js';
import { prepareFileDay, remoteFolder, remotePath } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const bookings = makeBookings(130);
const early = bookings.slice(0, 100);
const late = ['replay', day, '--late', '--json'] as const;

describe('late bookings by body', () => {
  it('are sent, without what was delivered before; a second time there is nothing new', async () => {
    const { standIn, folder } = await prepareDay({ bookings: toCsv(early) });
    const first = await folder.runDay();
    await folder.writeBookings(toCsv(bookings.toReversed()));
    const second = await folder.run(late);
    expect(second.report).toMatchObject({
      state: 'succeeded',
      trigger: 'replay',
      topsUp: true,
      counts: { read: 130, accepted: 30, duplicates: 100, rejected: 0, delivered: 30, pending: 0 },
      file: null,
    });
    expect(second.stderr).toContain(`late bookings: it tops up run ${first.report.runId}`);
    expectEachOnce(standIn, bookings);

    const third = await folder.run(late);
    expect(third).toMatchObject({ exitCode: 0, report: { counts: { accepted: 0, duplicates: 130 } } });
    expect(third.stderr).toContain(`Nothing new since run ${second.report.runId}: nothing was sent.`);
    expectEachOnce(standIn, bookings);
    expect((await folder.run(['status'])).stdout).toMatch(/2026-11-20 .* sent \+ .* 30 /);
  });

  it('of a day without a run are the whole day', async () => {
    const { standIn, folder } = await prepareDay({ bookings: toCsv(early) });
    const { report } = await folder.run(late);
    expect(report).not.toHaveProperty('topsUp');
    expectEachOnce(standIn, early);
  });

  it('are not sent by a different delivery than the day was', async () => {
    const { standIn, folder } = await prepareDay({ bookings: toCsv(early) });
    await folder.runDay();
    const sent = standIn.requests.length;
    await folder.configure({
      file: {
        sftp: { host: 'sftp.example', username: 'a', password: 'b', hostKey: `SHA256:${'A'.repeat(43)}` },
      },
    });
    const refused = await folder.run([...late, '--delivery', 'file']);
    expectError(refused, {
      exitCode: 2,
      class: 'usage',
      message: /delivered by body, and late bookings must too/,
    });
    expect(standIn.requests).toHaveLength(sent);
  });

  it('of an unfinished run require resuming or abandoning it first; what it delivered stays delivered', async () => {
    const service = { isDown: true };
    const { standIn, folder } = await prepareDay(
      { bookings: toCsv(early), settings: { retry: { tries: 1 }, body: { batchSize: 10, concurrency: 1 } } },
      (_, number) => (number > 3 && service.isDown ? { kind: 'text', status: 503, body: '' } : success),
    );
    const cut = await folder.runDay();
    expect(cut.report).toMatchObject({ state: 'failed', counts: { delivered: 30 } });
    await folder.writeBookings(toCsv(bookings));
    service.isDown = false;
    const refused = await folder.run(late);
    expectError(refused, {
      exitCode: 2,
      class: 'usage',
      message: /is unfinished \(failed\): `hotel-review run --day/,
    });
    const given = await folder.run([...late, '--reason', 'a new export came']);
    expect(given.report.counts).toMatchObject({ read: 130, accepted: 100, duplicates: 30 });
    expectEachOnce(standIn, bookings);
  });

  it('are collected again in the same way after a collect that failed', async () => {
    const { standIn, folder } = await prepareDay({ bookings: toCsv(early) });
    await folder.runDay();
    // The source fails: the run fails in collect, and the next `run` collects it again.
    await folder.writeBookings(`${toCsv(bookings)}"an open quote`);
    const broken = await folder.run(late);
    expect(broken).toMatchObject({ exitCode: 1, report: { state: 'failed', topsUp: true } });
    await folder.writeBookings(toCsv(bookings));
    const { report } = await folder.runDay();
    expect(report).toMatchObject({ runId: broken.report.runId, topsUp: true, counts: { accepted: 30 } });
    expectEachOnce(standIn, bookings);
  });

  it('are delivered once by a top-up that is killed halfway and resumed', async () => {
    const gate = createGate();
    const { standIn, folder } = await prepareDay(
      { bookings: toCsv(early), settings: { body: { batchSize: 10, concurrency: 1 } } },
      async (request, number) => {
        await request.readBody();
        if (number === 12) await gate.passed;
        return success;
      },
    );
    await folder.runDay();
    await folder.writeBookings(toCsv(bookings));
    const running = folder.start(late);
    await standIn.received(12);
    running.kill('SIGKILL');
    await running.ended;
    gate.open();
    const { report } = await folder.runDay();
    expect(report.counts).toMatchObject({ accepted: 30, duplicates: 100, delivered: 30, repeated: 10 });
    const sent = new Set(standIn.accepted().map(({ BookingReferenceId }) => BookingReferenceId));
    expect(sent.size).toBe(130);
  });

  it('of runs whose names were deleted are not guessed', async () => {
    const old = '2023-01-02';
    const { standIn, folder } = await prepareDay({ settings: { guestNameDays: 1 } });
    await folder.writeBookings(toCsv(early), old);
    await folder.run(['run', '--day', old]);
    const { default: Libsql } = await import('libsql');
    const database = new Libsql(folder.ledgerFile);
    database.exec('UPDATE runs SET finished_at = 0, started_at = 0');
    // Any run deletes what is too old, once the clock is vouched for by a run of the night before.
    await folder.writeBookings(toCsv([]));
    await folder.runDay();
    database.exec(`UPDATE runs SET started_at = ${Date.now() - 86_400_000} WHERE day <> '${old}'`);
    database.close();
    await folder.runDay();
    const refused = await folder.run(['replay', old, '--late', '--json']);
    expectError(refused, {
      exitCode: 2,
      class: 'usage',
      message: /guest names were blanked .*`hotel-review replay 2023-01-02/,
    });
    expect(standIn.accepted()).toHaveLength(100);
  });
});

/** A zone where the day neither begins nor ends during a test. */
function findZoneAtNoon(now: Date): { readonly timezone: string; readonly today: string } {
  const hoursAhead = 12 - now.getUTCHours();
  return {
    // In these names, zones ahead of UTC have a minus.
    timezone: `Etc/GMT${hoursAhead > 0 ? '-' : '+'}${Math.abs(hoursAhead)}`,
    today: new Date(now.getTime() + hoursAhead * 3_600_000).toISOString().slice(0, 10),
  };
}

describe('a day that is run before it has ended', () => {
  it('is topped up by each later run, and done only after it has ended', async () => {
    const { timezone, today } = findZoneAtNoon(new Date());
    const { standIn, folder } = await prepareDay({ settings: { timezone } });
    await folder.writeBookings(toCsv(early), today);
    const run = () => folder.run(['run', '--day', today, '--json']);
    const first = await run();
    expect(first.report).not.toHaveProperty('topsUp');
    await folder.writeBookings(toCsv(bookings), today);
    const second = await run();
    expect(second.report).toMatchObject({ trigger: 'manual', topsUp: true, counts: { accepted: 30 } });
    expect((await run()).stderr).toContain(`Nothing new since run ${second.report.runId}`);
    expectEachOnce(standIn, bookings);
  });
});

describe(`late bookings by file over ${sandboxSftp.name}`, () => {
  const server = useSftpServer(sandboxSftp);

  it('are in a new file with everything delivered before; with nothing new there is no file', async () => {
    const { folder, service, listRemote } = await prepareFileDay(server(), { bookings: toCsv(early) });
    const first = await folder.runDay();
    expect(first.exitCode).toBe(0);
    const nothing = await folder.run(late);
    expect(nothing).toMatchObject({
      exitCode: 0,
      report: { file: null, counts: { accepted: 0, duplicates: 100 } },
    });
    expect(nothing.stderr).toContain(`Nothing new since run ${first.report.runId}`);
    expect(service.calls).toHaveLength(1);

    await folder.writeBookings(toCsv(bookings.slice(50)));
    const { exitCode, report } = await folder.run(late);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      state: 'succeeded',
      counts: { read: 80, accepted: 30, duplicates: 50, delivered: 30, carried: 100, affected: 0 },
      file: { remotePath, rows: 130 },
    });
    const [, second, ...others] = service.calls;
    expect(others).toEqual([]);
    const references = parseRecords(second?.file).map(({ BookingReferenceId }) => BookingReferenceId);
    expect(references).toEqual(
      [...bookings.slice(100), ...early].map(({ BookingReferenceId }) => BookingReferenceId),
    );
    expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
    expect(remotePath.startsWith(remoteFolder)).toBe(true);
  });

  it('count once in every answer about their day, and so does a booking with another stay now', async () => {
    const affected = ['BR-1', 'BR-2', 'BR-101'];
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv(early),
      onCall: async (call) => {
        await call.writeResult({ affected });
        return success;
      },
    });
    await folder.runDay();
    const [unchanged, changed, ...others] = bookings;
    const longer = { ...changed, CheckOutDate: '2027-12-24' } as (typeof bookings)[number];
    await folder.writeBookings(toCsv([...(unchanged ? [unchanged] : []), longer, ...others]));
    const { report } = await folder.run(late);
    expect(report.counts).toMatchObject({ read: 130, accepted: 31, duplicates: 99, carried: 99 });
    const ask = async (...command: string[]) => (await folder.run([...command, '--json'])).json;
    const listed = await ask('affected', day);
    expect(
      JSON.stringify(listed)
        .match(/BR-\d+/g)
        ?.sort(),
    ).toEqual(['BR-1', 'BR-101', 'BR-2']);
    expect(listed).toMatchObject({ unanswered: 0, posted: 0 });
    expect(await ask('report', day)).toMatchObject({
      verdicts: { knowledge: 'judged', affected: 3, unanswered: 0, posted: 0 },
      affected: { count: 3 },
      headline: expect.stringContaining('3 bookings on an incorrect mapping'),
    });
    const shown = await ask('show', 'BR-2');
    expect(JSON.stringify(shown).match(/"superseded":true/g)).toHaveLength(1);
    expect((await folder.run(['show', 'BR-2'])).stdout).toContain('superseded');
  });

  it('that cannot go into the file are posted, without a file', async () => {
    const { folder, service, standIn } = await prepareFileDay(server(), { bookings: toCsv(early) });
    await folder.runDay();
    const [odd] = bookings.slice(100);
    const nameless = { ...odd, BookingClientName: '' } as (typeof bookings)[number];
    await folder.writeBookings(toCsv([...early, nameless]));
    const { report } = await folder.run(late);
    expect(report).toMatchObject({ state: 'succeeded', file: null, counts: { accepted: 1, delivered: 1 } });
    expect(service.calls).toHaveLength(1);
    expect(standIn.accepted()).toMatchObject([{ BookingReferenceId: 'BR-101' }]);
  });
});
