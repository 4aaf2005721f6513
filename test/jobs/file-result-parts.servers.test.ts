import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { type DayFolder, day, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, resultPath } from '../support/file-day.js';
import type { FileCall } from '../support/file-service.js';
import { parseRecords } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
/** So short that a run ends before anybody writes a result. */
const briefTimeout = { resultTimeoutMinutes: 0.005 };
const stay = { CheckInDate: '2031-10-01', CheckOutDate: '2031-10-05' };
const bookings = makeBookings(5).map((booking) => ({ ...booking, ...stay }));

/** A day whose run has ended without a result. */
async function prepare(file: Settings = briefTimeout) {
  const { folder, service } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { file },
    onCall: () => success,
  });
  expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
  const call = service.calls.at(-1);
  if (!call) throw new Error('there was no call');
  return { folder, call };
}

const recordsOf = (call: FileCall, from: number, to: number) => parseRecords(call.file).slice(from, to);

async function listAffected(folder: DayFolder): Promise<unknown> {
  const { json } = await folder.run(['affected', day, '--json']);
  const { affected } = json as { affected: { BookingReferenceId: string }[] };
  return affected.map((one) => one.BookingReferenceId).toSorted();
}

/** The references that cases name. */
async function listNamed(folder: DayFolder): Promise<unknown> {
  const { cases } = (await folder.run(['cases', '--json'])).json as {
    cases: { id: number }[];
  };
  const named: (string | null)[] = [];
  for (const { id } of cases) {
    const { bookingList } = (await folder.run(['case', String(id), '--json'])).json as {
      bookingList: { reference: string | null; isNamed: boolean }[];
    };
    named.push(...bookingList.flatMap(({ reference, isNamed }) => (isNamed ? [reference] : [])));
  }
  return named.toSorted();
}

it('a result that comes in parts makes cases of all that it calls incorrect, and none stays without', async () => {
  const { folder, call } = await prepare();
  const affected = ['BR-1', 'BR-4'];
  await call.writeResult({ affected, records: recordsOf(call, 0, 2) });
  expectReport(await folder.runDay(), { exitCode: 1, state: 'failed', counts: { affected: 1 } });
  expect(await listNamed(folder)).toEqual(['BR-1']);
  await call.writeResult({ affected });
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 2 } });
  expect(await listAffected(folder)).toEqual(affected);
  expect(await listNamed(folder)).toEqual(affected);
});

it('a booking stays affected until its result calls it correct, and its case says that it did', async () => {
  const { folder, call } = await prepare();
  await call.writeResult({ affected: ['BR-1'], records: recordsOf(call, 0, 2) });
  await folder.runDay();
  await call.writeResult({ records: recordsOf(call, 1, 5) });
  expectReport(await folder.runDay(), {
    exitCode: 0,
    state: 'succeeded',
    counts: { affected: 1, unanswered: 0 },
  });
  expect(await listAffected(folder)).toEqual(['BR-1']);
});

it('a newer result that calls a booking correct enters the history of its case', async () => {
  const { folder, call } = await prepare();
  await call.writeResult({ affected: ['BR-1'], records: recordsOf(call, 0, 2) });
  const { report } = await folder.runDay();
  await call.writeResult();
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 0 } });
  expect(await listNamed(folder)).toEqual(['BR-1']);
  const { history, bookingList } = (await folder.run(['case', '1', '--json'])).json as {
    history: object[];
    bookingList: object[];
  };
  expect(history.at(-1)).toMatchObject({ action: 'case-updated', calledCorrect: 1, run: report.runId });
  expect(bookingList).toMatchObject([{ state: 'open' }]);
  expect((await folder.run(['case', '1'])).stdout).toContain(
    `the result of run ${report.runId} calls 1 named booking correct; that resolves nothing`,
  );
});

it('a result in two files is one, and both are archived and verified', async () => {
  const { folder, call } = await prepare();
  await call.writeResult({ affected: ['BR-2'], records: recordsOf(call, 0, 3), infix: '_1' });
  await call.writeResult({ affected: ['BR-5'], records: recordsOf(call, 3, 5), infix: '_2' });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 2, unanswered: 0 } });
  const names = ['20112026_1_Result.csv', '20112026_2_Result.csv'];
  const { file } = result.json as { file: { resultName: string; otherResults: string[] } };
  expect([...file.otherResults, file.resultName].toSorted()).toEqual(names);
  expect(archiveOf(result).names()).toEqual(['20112026.csv', ...names, 'manifest.json']);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect(await listAffected(folder)).toEqual(['BR-2', 'BR-5']);
});

it('a result with the column of the verdicts twice is not accepted, and the run names both', async () => {
  const { folder, call } = await prepare();
  const [header = '', ...rows] = call
    .renderResult({ affected: ['BR-3'] })
    .trimEnd()
    .split('\n');
  const twice = [`${header},is correct mapping`, ...rows.map((row) => `${row},True`), ''].join('\n');
  await writeFile(server().disk(resultPath), twice);
  const result = await folder.runDay();
  expectReport(result, { exitCode: 1, state: 'failed' });
  expect(result.stderr.replace(/\s+/g, ' ')).toContain(
    'which of them counts is not clear: IsCorrectMapping (column 8), is correct mapping (column 9)',
  );
  expect((await folder.run(['affected', day, '--unanswered', '--json'])).json).toMatchObject({
    unanswered: 5,
  });
});
