import { describe, expect, it, vi } from 'vitest';
import { tableSource } from '../support/bookings-table.js';
import type { CommandResult } from '../support/command.js';
import { day, type PreparedDay, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { makeBookings } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { type BookingsDatabase, bookingsDatabases } from './bookings-databases.js';

const waiting = { timeout: patienceMs, interval: 20 };
/** At the gate, some thousands are in the ledger already. */
const large = { bookings: 12_000, gateAt: 8_000 };
const small = { bookings: 1_200, gateAt: 800 };
const lost = /the connection was lost while the day was read \(.+\), so the day is incomplete; run it again$/;
const ended = /the query was cancelled on the server \(.+\), .* so the day is incomplete; run it again$/;
const away = /can't be reached \(ECONNREFUSED\): is the database running, and does source\.url name it\?$/;
const tooSlow = /the query took longer than source\.timeoutSeconds \(5 s\) and was stopped; make it faster/;

describe.each(bookingsDatabases)('a day of bookings in $name', ({ use }) => {
  const makeDay = use();

  /** A command that has reached this row of the query and waits there for the database. */
  async function collectTo(
    { bookings, gateAt }: typeof large,
    settings: { readonly timeoutSeconds?: number } = {},
  ) {
    const database = await makeDay(bookings);
    const gate = await database.closeGate(gateAt);
    const prepared = await prepareDay({
      settings: { source: { ...tableSource(database, gate), ...settings }, body: { batchSize: 1_000 } },
    });
    const command = prepared.folder.call(['run', '--day', day, '--json']);
    await gate.reached();
    return { ...prepared, database, gate, command };
  }

  async function restart(database: BookingsDatabase): Promise<void> {
    await database.stopServer();
    await database.startServer();
  }

  /** Expects a failure with a message for the operator, and no call to the service. */
  function expectFailed(
    result: CommandResult,
    { standIn, database, message, isPassing = true }: Pick<PreparedDay, 'standIn'> & Failure,
  ): void {
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, refused: 0 } });
    expect(result.report.error).toEqual({
      class: isPassing ? 'retryable' : 'data',
      message: expect.stringMatching(message),
    });
    expect(result.stderr).toContain(`${day}: run ${result.report.runId} failed`);
    expect(result.stderr).toContain(`Once the cause is fixed: hotel-review run --day ${day}`);
    expectDiscreet(result, database);
    expect(standIn.connections).toBe(0);
  }

  function expectDiscreet({ stdout, stderr }: CommandResult, { url, password }: BookingsDatabase): void {
    for (const secret of [password, new URL(url).password, 'Guest ', 'node:internal']) {
      expect(stdout + stderr).not.toContain(secret);
    }
  }

  /** Expects a run without deliveries, and no booking marked as sent. */
  async function expectNothingSent({ folder }: PreparedDay, database: BookingsDatabase): Promise<void> {
    const status = await folder.run(['status', day]);
    expect(status.stdout).toMatch(/delivered +0\n/);
    expect(status.stdout).toContain(`hotel-review run --day ${day}`);
    expectDiscreet(status, database);
    const show = await folder.run(['show', 'BR-7']);
    expect(show).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('BR-7 is in no run') });
  }

  /** Expects the next `run` to collect again within the same run and to deliver every booking once. */
  async function expectWholeDay(
    { folder, standIn }: PreparedDay,
    runId: string,
    { bookings: count } = small,
  ): Promise<void> {
    const again = await folder.runDay();
    const counts = { read: count, accepted: count, delivered: count, repeated: 0 };
    expectReport(again, { exitCode: 0, state: 'succeeded', counts });
    expect(again.report.runId).toBe(runId);
    expectEachOnce(standIn, makeBookings(count));
  }

  it('fails without sending anything when the database restarts mid-query; the next run delivers every booking once', async () => {
    const { database, command, ...prepared } = await collectTo(large);
    const ledger = prepared.folder.watchLedger();
    await vi.waitUntil(async () => (await ledger.run()).read > 0, waiting);
    await restart(database);

    const result = await command.ended;
    expectFailed(result, { ...prepared, database, message: lost });
    expect(result.report.counts.read).toBeGreaterThan(0);
    await expectNothingSent(prepared, database);
    await expectWholeDay(prepared, result.report.runId, large);
  });

  it('fails when the database restarts before the first row; the next run delivers everything', async () => {
    const { database, command, ...prepared } = await collectTo({ ...small, gateAt: 1 });
    await restart(database);

    const result = await command.ended;
    expectFailed(result, { ...prepared, database, message: lost });
    await expectWholeDay(prepared, result.report.runId);
  });

  it.each([
    ['session', 'endSession', lost],
    ['query', 'cancelQuery', ended],
  ] as const)(
    'whose %s an administrator kills fails; the next run delivers everything',
    async (_, end, message) => {
      const { database, gate, command, ...prepared } = await collectTo(small);
      await database[end]();

      const result = await command.ended;
      expectFailed(result, { ...prepared, database, message });
      await gate.open();
      await expectWholeDay(prepared, result.report.runId);
    },
  );

  it('fails while the database is down; once it is up, the next run delivers everything', async () => {
    const database = await makeDay(small.bookings);
    const prepared = await prepareDay({
      settings: { source: tableSource(database), body: { batchSize: 1_000 } },
    });
    await database.stopServer();
    const result = await prepared.folder.runDay();
    await database.startServer();
    expectFailed(result, { ...prepared, database, message: away });
    await expectWholeDay(prepared, result.report.runId);
  });

  it('fails after timeoutSeconds when the database freezes; the query ends once it thaws', async () => {
    const { database, gate, command, ...prepared } = await collectTo(small, { timeoutSeconds: 5 });
    const thaw = await database.freeze();

    const result = await command.ended;
    expectFailed(result, { ...prepared, database, message: tooSlow, isPassing: false });
    thaw();
    await vi.waitUntil(async () => (await database.countSessions()) === 0, waiting);
    await gate.open();
    await expectWholeDay(prepared, result.report.runId);
  });

  it('stops on Ctrl-C when the database freezes; the query ends once it thaws, and the next run delivers everything', async () => {
    const { database, gate, command, ...prepared } = await collectTo(small);
    const thaw = await database.freeze();
    command.stop('SIGINT');

    const result = await command.ended;
    expectReport(result, { exitCode: 1, state: 'collecting', counts: { delivered: 0 } });
    expect(result.stderr).toContain(`To resume it: hotel-review run --day ${day}`);
    expectDiscreet(result, database);
    expect(prepared.standIn.connections).toBe(0);
    thaw();
    await vi.waitUntil(async () => (await database.countSessions()) === 0, waiting);
    await expectNothingSent(prepared, database);
    await gate.open();
    await expectWholeDay(prepared, result.report.runId);
  });
});

interface Failure {
  readonly database: BookingsDatabase;
  readonly message: RegExp;
  /** Whether `serve` tries again by itself; so by default. */
  readonly isPassing?: boolean;
}
