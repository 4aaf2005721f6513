import { writeFile } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay, resultPath } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { success } from '../support/http-stand-in.js';
import { type MadeBooking, makeBookings } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const bookings: readonly MadeBooking[] = makeBookings(4).map((booking) => ({
  ...booking,
  BookingClientName: `"${booking.BookingReferenceId}", Zoë`,
}));

const inOneLine = (text: string) => text.replace(/\s+/g, ' ');

/** A day to which the service answers with this result. */
async function runWith(
  result: string | Buffer,
  { file = {}, ...settings }: Settings & { file?: Settings } = {},
) {
  const { folder, service } = await prepareFileDay(server(), {
    bookings: stringify([...bookings], { header: true }),
    settings: { file, ...settings },
    async onCall() {
      await writeFile(server().disk(resultPath), result);
      return success;
    },
  });
  const report = await folder.runDay();
  expect(parseRecords(service.calls[0]?.file)).toHaveLength(4);
  const answered = await folder.run(['affected', day, '--json']);
  const { affected } = answered.json as { affected: { BookingReferenceId: string }[] };
  return {
    folder,
    result: report,
    /** Its output, without line breaks. */
    words: inOneLine(report.stderr),
    affected: affected.map((booking) => booking.BookingReferenceId),
  };
}

/** One line per booking, each terminated; BR-2 and BR-3 are marked as incorrect. */
function write(
  header: string,
  line: (booking: MadeBooking, isCorrect: boolean) => string,
  lineEnd = '\n',
): string {
  const lines = bookings.map((booking) =>
    line(booking, !['BR-2', 'BR-3'].includes(booking.BookingReferenceId)),
  );
  return [header, ...lines, ''].join(lineEnd);
}

const quoted = (cells: readonly unknown[]) =>
  cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',');

describe('a result is understood', () => {
  it.each([
    [
      'with its columns in another order, and additional ones',
      write(
        'IsCorrectMapping,Remark,ProviderHotelId,BookingReferenceId,Score,Service Mappings Id',
        (b, isCorrect) =>
          `${isCorrect ? 'True' : 'False'},"a, b",${b.ProviderHotelId},${b.BookingReferenceId},0.5,${b.ServiceId}`,
      ),
    ],
    [
      'with a byte order mark, CRLF and quotes around every cell',
      `\ufeff${write(
        quoted(['BookingReferenceId', 'BookingClientName', 'IsCorrectMapping']),
        (b, isCorrect) => quoted([b.BookingReferenceId, b.BookingClientName, isCorrect]),
        '\r\n',
      )}`,
    ],
    [
      'with dates in other formats and the bookings in another order',
      write(
        'Service Mappings Id,BookingReferenceId,CheckInDate,CheckOutDate,IsCorrectMapping',
        (b, isCorrect) =>
          `${b.ServiceId},${b.BookingReferenceId},2026-12-01,08/12/2026 00:00:00,${isCorrect}`,
      )
        .split('\n')
        .map((_, index, lines) => lines[[0, 3, 1, 4, 2, 5][index] ?? 0])
        .join('\n'),
    ],
    [
      'with lower-case columns and lower-case verdicts',
      write(
        'service_mappings_id,bookingreferenceid,iscorrectmapping',
        (b, isCorrect) => `${b.ServiceId},${b.BookingReferenceId},${isCorrect ? 'yes' : 'no'}`,
      ),
    ],
    [
      'with only the reference',
      write(
        'BookingReferenceId,IsCorrectMapping',
        (b, isCorrect) => `${b.BookingReferenceId},${isCorrect ? 1 : 0}`,
      ),
    ],
    [
      'without the reference',
      write(
        'ServiceId,ProviderName,ProviderHotelId,IsCorrectMapping',
        (b, isCorrect) =>
          `${b.ServiceId},${b.ProviderName},${b.ProviderHotelId},${isCorrect ? 'Correct' : 'INCORRECT'}`,
      ),
    ],
  ])('%s', async (_, content) => {
    const { result, affected } = await runWith(content);
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 4, affected: 2 } });
    const archive = archiveOf(result);
    expect(affected).toEqual(['BR-2', 'BR-3']);
    expect(archive.read('20112026_Result.csv').toString()).toBe(content);
    expect(archive.readManifest()).toMatchObject({
      result: { rows: 4, isWhole: true },
      verdicts: { affected: 2, unanswered: 0, unclear: 0, malformed: 0 },
    });
    expect(result.stderr).not.toContain('warning');
  });
});

const usualResult = write(
  'Service Mappings Id,BookingReferenceId,IsCorrectMapping',
  (b, isCorrect) => `${b.ServiceId},${b.BookingReferenceId},${isCorrect}`,
);

describe('a result in another dress', () => {
  it('is understood and archived as it is: UTF-16, a title, semicolons, CR only', async () => {
    const text = `\ufeffResult\r${usualResult.replaceAll(',', ';').replaceAll('\n', '\r')}`;
    const content = Buffer.from(text, 'utf16le');
    const { result, affected } = await runWith(content);
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 2, unanswered: 0 } });
    expect(affected).toEqual(['BR-2', 'BR-3']);
    expect(archiveOf(result).read('20112026_Result.csv')).toEqual(content);
  });

  it('is understood line by line where it is not UTF-8, and its bytes are kept', async () => {
    const content = Buffer.from(
      usualResult.replace('BR-3', 'BR-3').replaceAll('\n', ' \n').concat('Ñandú,,\n'),
      'latin1',
    );
    const { result, affected } = await runWith(content);
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 2 } });
    expect(affected).toEqual(['BR-2', 'BR-3']);
    expect(archiveOf(result).read('20112026_Result.csv')).toEqual(content);
  });

  it('that cannot be read is described', async () => {
    const { result } = await runWith(usualResult.replaceAll(',', '~'), {
      file: { resultTimeoutMinutes: 0.02 },
    });
    expectReport(result, { exitCode: 1, state: 'failed', counts: { affected: 0, unanswered: 4 } });
    const message = String(result.report.error?.message);
    expect(message).toContain('one column in 5 rows');
    expect(message).toContain('Ask the service for a CSV file');
  });
});

const everyByte = Buffer.from(Array.from({ length: 2_048 }, (_, index) => (index * 7) % 256));
const html = '<html><body>\n<h1>503</h1>\n<p>"Please" come again\n</body></html>\n';

describe('a result that cannot be understood at all', () => {
  it.each([
    [
      'has no header',
      write('', (b, isCorrect) => `${b.ServiceId},${b.BookingReferenceId},${isCorrect}`).slice(1),
    ],
    ['is an HTML page', html],
    ['is empty', ''],
    ['is only a header', 'BookingReferenceId,IsCorrectMapping\n'],
    ['is binary', everyByte],
  ])('and that %s fails the run when it is due: nothing is known about any booking', async (_, content) => {
    const { folder, result, affected } = await runWith(content, { file: { resultTimeoutMinutes: 0.02 } });
    expectReport(result, {
      exitCode: 1,
      state: 'failed',
      counts: { delivered: 4, affected: 0, unanswered: 4 },
    });
    expect(result.report.error).toMatchObject({ class: 'data' });
    expect(affected).toEqual([]);

    await folder.configure({ maxUnansweredShare: 1 });
    const accepted = await folder.runDay();
    expectReport(accepted, { exitCode: 0, state: 'succeeded', counts: { affected: 0, unanswered: 4 } });
    expect(archiveOf(accepted).read('20112026_Result.csv')).toEqual(Buffer.from(content));
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });
});

describe('a result that can be understood in part', () => {
  const unclear = write(
    'BookingReferenceId,IsCorrectMapping',
    (b, isCorrect) => `${b.BookingReferenceId},${b.BookingReferenceId === 'BR-3' ? 'perhaps' : isCorrect}`,
  );

  it('with an unclear verdict: the others apply, and the run fails at once, because nothing more will arrive', async () => {
    const { folder, result, affected } = await runWith(unclear);
    expectReport(result, { exitCode: 1, state: 'failed', counts: { affected: 1, unanswered: 1 } });
    expect(inOneLine(String(result.report.error?.message))).toContain('1 without a readable verdict');
    expect(affected).toEqual(['BR-2']);
    const { json } = await folder.run(['show', 'BR-3', '--json']);
    expect(json).toMatchObject({ bookings: [{ verdict: 'unknown', verdictReason: 'unclear' }] });

    await folder.configure({ file: { resultValues: { incorrect: ['perhaps', false] } } });
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 2 } });
  });

  it('with an unclear verdict: it is accepted, up to maxUnansweredShare', async () => {
    const { result, words, affected } = await runWith(unclear, { maxUnansweredShare: 0.25 });
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1, unanswered: 1 } });
    expect(affected).toEqual(['BR-2']);
    expect(words).toContain('warning: bookings that the result names without a readable verdict: 1');
    expect(archiveOf(result).readManifest()).toMatchObject({ verdicts: { affected: 1, unclear: 1 } });
  });

  it('with a malformed row: its booking has no verdict, and the others apply', async () => {
    const content = write(
      'BookingReferenceId,Remark,IsCorrectMapping',
      (b, isCorrect) =>
        `${b.BookingReferenceId},${b.BookingReferenceId === 'BR-3' ? '"open' : ''},${isCorrect}`,
    );
    const { result, words, affected } = await runWith(content, { file: { resultTimeoutMinutes: 0.02 } });
    expectReport(result, { exitCode: 1, state: 'failed', counts: { affected: 1, unanswered: 1 } });
    expect(affected).toEqual(['BR-2']);
    expect(words).toContain('warning: unreadable result rows: 1');
  });
});

describe('a result in other words', () => {
  const content = write(
    'BookingReferenceId,MappingStatus',
    (b, isCorrect) => `${b.BookingReferenceId},${isCorrect ? 'OK' : 'Wrong hotel'}`,
  );

  it('fails the run at once, names its columns and the setting, and is read once that is set', async () => {
    const { folder, result, affected } = await runWith(content);
    expectReport(result, { exitCode: 1, state: 'failed', counts: { affected: 0, unanswered: 4 } });
    expect(affected).toEqual([]);
    const message = String(result.report.error?.message);
    expect(result.report.error?.class).toBe('data');
    for (const part of ['BookingReferenceId, MappingStatus', 'file.resultColumn', 'IsCorrectMapping'])
      expect(message).toContain(part);

    await folder.configure({ file: { resultColumn: 'mapping_status' } });
    const half = await folder.runDay();
    expectReport(half, { exitCode: 1, state: 'failed', counts: { unanswered: 4 } });
    expect(half.report.error?.message).toContain('file.resultValues');

    const resultValues = { correct: ['ok'], incorrect: ['wrong hotel'] };
    await folder.configure({ file: { resultColumn: 'mapping_status', resultValues } });
    const last = await folder.runDay();
    expectReport(last, { exitCode: 0, state: 'succeeded', counts: { affected: 2, unanswered: 0 } });
    expect(archiveOf(last).read('20112026_Result.csv').toString()).toBe(content);
  });
});
