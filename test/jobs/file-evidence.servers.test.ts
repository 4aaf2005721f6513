import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { bookingsHeader, makeBookings, stayToCome, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const stay = stayToCome();
const bookings = makeBookings(6, stay);
const affected = bookings
  .filter(({ BookingReferenceId }) => ['BR-2', 'BR-5'].includes(BookingReferenceId))
  .map(({ BookingClientName: _, ...others }) => others);

/** A day that was run, with two affected bookings by default. */
async function runDay(marked: readonly string[] = ['BR-2', 'BR-5']) {
  const prepared = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    async onCall(call) {
      await call.writeResult({ affected: marked });
      return success;
    },
  });
  const result = await prepared.folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: marked.length } });
  return { ...prepared, result, archive: archiveOf(result) };
}

describe('verify', () => {
  it('finds no difference in the archive, and says what it checked', async () => {
    const { folder, result } = await runDay();
    const verified = await folder.run(['verify', day, '--json']);
    expect(verified.exitCode).toBe(0);
    const names = ['20112026.csv', '20112026_Result.csv'].map((item) => ({ item }));
    expect(verified.json).toEqual({
      day,
      runs: [{ runId: result.report.runId, unanswered: 0, posted: 0, items: expect.arrayContaining(names) }],
    });
    const said = await folder.run(['verify', day]);
    expect(said.stdout).toContain('ok      20112026.csv');
    expect(said.stdout).not.toContain('DIFFERS');
  });

  it.each(['20112026.csv', '20112026_Result.csv'])(
    'finds one changed byte in %s, wherever it is',
    async (name) => {
      const { folder, archive } = await runDay();
      const content = archive.read(name);
      for (const place of [0, content.length >> 1, content.length - 1]) {
        const changed = Buffer.from(content);
        changed[place] = (changed[place] ?? 0) ^ 1;
        await writeFile(join(archive.path, name), changed);
        const verified = await folder.run(['verify', day]);
        expect(verified.stdout).toContain(`DIFFERS ${name}: expected the checksum`);
        expect(verified.exitCode).toBe(1);
      }
      await writeFile(join(archive.path, name), content);
      expect((await folder.run(['verify', day])).exitCode).toBe(0);
    },
  );

  it('reports each archived file that was removed', async () => {
    const { folder, archive } = await runDay();
    for (const name of archive.names()) {
      const content = archive.read(name);
      await rm(join(archive.path, name));
      const verified = await folder.run(['verify', day]);
      expect(verified.stdout).toContain(`DIFFERS ${name}: is not in the archive`);
      expect(verified.exitCode).toBe(1);
      await writeFile(join(archive.path, name), content);
    }
    expect((await folder.run(['verify', day])).exitCode).toBe(0);
  });

  it('finds a manifest that does not match what happened', async () => {
    const { folder, archive } = await runDay();
    const text = archive.read('manifest.json').toString();
    for (const [pattern, replacement] of [
      [/^.*$/s, '{}\n'],
      [/^.*$/s, 'null\n'],
      [/\}\s*$/, ''],
      [/("sha256": ")./g, '$1x'],
      ['"accepted": 6', '"accepted": 7'],
      ['"affected": 2', '"affected": 1'],
      ['"httpStatus": 200', '"httpStatus": 201'],
      [/"calls": \[[^\]]*\]/, '"calls": []'],
      [/,\s*\{\s*"name": "20112026_Result.csv"[^}]*\}(?=\s*\])/, ''],
    ] as const) {
      const changed = text.replace(pattern, replacement);
      expect(changed).not.toBe(text);
      await writeFile(join(archive.path, 'manifest.json'), changed);
      const verified = await folder.run(['verify', day]);
      expect(verified.stdout, changed).toContain('DIFFERS manifest.json');
      expect(verified.exitCode).toBe(1);
    }
  });

  it('says that there are no files for a day that was never run, or went by body, with exit 1', async () => {
    const { folder } = await prepareFileDay(server(), { bookings: toCsv(bookings) });
    expect((await folder.run(['verify', day])).exitCode).toBe(1);
    expectReport(await folder.run(['run', '--day', day, '--delivery', 'body', '--json']), {
      exitCode: 0,
      state: 'succeeded',
    });
    const verified = await folder.run(['verify', day]);
    expect(verified.stdout).toContain(`No run of ${day} has files in the archive; only runs by file do.`);
    expect(verified.exitCode).toBe(1);
  });
});

/** There is no copy of the mappings, and no content of hotels. */
const nothingKnown = {
  copyServiceId: null,
  copy: 'never-synced',
  bookedHotel: null,
  copyHotel: null,
  distanceKm: null,
  hoursToCheckIn: null,
};
/** Cases are opened in the order of the bookings. */
const caseOf = (index: number) => ({ caseId: index + 1, caseState: 'open' });
const hotelColumns = [
  'copyServiceId',
  'copy',
  'caseId',
  'caseState',
  ...['runId', 'verdictReason', 'reason', 'field', 'movedAt', 'code', 'step'],
  ...['booked', 'copy'].flatMap((hotel) =>
    ['Name', 'City', 'Country', 'Phones', 'LocalTime'].map((fact) => `${hotel}Hotel${fact}`),
  ),
  'distanceKm',
  'hoursToCheckIn',
];

describe('affected', () => {
  it('lists the bookings that the result marks, as text and as JSON, without guests', async () => {
    const { folder, result } = await runDay();
    const said = await folder.run(['affected', day]);
    expect(said.exitCode).toBe(0);
    expect(said.stdout).toContain(`affected bookings: 2 (run ${result.report.runId})`);
    for (const text of ['BR-2', '100002', 'Hotelbeds', '002A', 'BR-5', '100005', 'Expedia'])
      expect(said.stdout).toContain(text);
    expect(said.stdout).not.toMatch(/BR-[1346]|Guest/);
    const answered = await folder.run(['affected', day, '--json']);
    expect(answered.exitCode).toBe(0);
    expect(answered.json).toEqual({
      day,
      runId: result.report.runId,
      state: 'succeeded',
      affected: affected.map((booking, index) => ({
        ...{ ...booking, ...nothingKnown, ...caseOf(index) },
        runId: result.report.runId,
      })),
      unanswered: 0,
      posted: 0,
    });
  });

  it('writes them to a CSV readable only by its owner, and overwrites nothing', async () => {
    const { folder, result } = await runDay();
    const path = join(folder.path, 'wrong.csv');
    expect((await folder.run(['affected', day, '--csv', 'wrong.csv'])).exitCode).toBe(0);
    const bytes = await readFile(path);
    const emptyCells = Object.fromEntries(hotelColumns.map((column) => [column, '']));
    expect(parse(bytes, { columns: true, bom: true })).toEqual(
      affected.map((booking, index) => ({
        ...booking,
        ServiceId: String(booking.ServiceId),
        ...emptyCells,
        copy: 'never-synced',
        caseId: `${index + 1}`,
        caseState: 'open',
        runId: result.report.runId,
      })),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await readFile(path);
    const again = await folder.run(['affected', day, '--csv', 'wrong.csv', '--json']);
    expectError(again, { exitCode: 2, class: 'usage', message: /wrong\.csv exists already/ });
    expect(await readFile(path)).toEqual(before);
    await writeFile(path, 'of an earlier time');
    expect((await folder.run(['affected', day, '--csv', 'wrong.csv', '--force'])).exitCode).toBe(0);
    expect(await readFile(path)).toEqual(before);
  });

  it('says that there are none, with exit 0, and writes a CSV with only a header', async () => {
    const { folder, result } = await runDay([]);
    const said = await folder.run(['affected', day, '--csv', 'wrong.csv']);
    expect(said.exitCode).toBe(0);
    expect(said.stdout).toContain('the result marks no booking as affected');
    const answered = await folder.run(['affected', day, '--json']);
    expect(answered.json).toMatchObject({ day, runId: result.report.runId, affected: [] });
    const header = bookingsHeader.replace('BookingClientName,', '');
    expect(await readFile(join(folder.path, 'wrong.csv'), 'utf8')).toBe(
      `\uFEFF${header},${hotelColumns.join(',')}\n`,
    );
  });

  it('exits with 1 when there is no run, and with 3 when the result has not arrived', async () => {
    const { folder } = await prepareFileDay(server(), {
      bookings: toCsv(bookings),
      settings: { file: { resultTimeoutMinutes: 0.005 } },
      onCall: () => success,
    });
    const none = await folder.run(['affected', day]);
    expect(none.exitCode).toBe(1);
    expectReport(await folder.runDay(), { exitCode: 3, state: 'awaiting-result' });
    const early = await folder.run(['affected', day, '--csv', 'wrong.csv']);
    expect(early.exitCode).toBe(3);
    expect(early.stdout).toContain(`No result of ${day} has arrived yet`);
    await expect(stat(join(folder.path, 'wrong.csv'))).rejects.toThrow('ENOENT');
  });
});

describe('what is shown about a day by file', () => {
  it('includes whether a booking is affected, and the call that delivered it', async () => {
    const { folder } = await runDay();
    const shown = await folder.run(['show', 'BR-2', '--json']);
    expect(shown.exitCode).toBe(0);
    expect(shown.json).toMatchObject({
      bookings: [
        {
          day,
          state: 'delivered',
          verdict: 'incorrect',
          step: 'trigger',
          booking: { BookingReferenceId: 'BR-2', BookingClientName: '***', CheckInDate: stay.checkIn },
          attempts: [{ step: 'trigger', outcome: 'done', code: 'ok', httpStatus: 200 }],
        },
      ],
    });
    const said = (await folder.run(['show', 'BR-2'])).stdout;
    expect(said).toContain('verdict: affected, its mapping is incorrect');
    expect((await folder.run(['show', 'BR-3'])).stdout).toContain('verdict: its mapping is correct');
  });

  it('includes in its status the file, the result and where both are archived', async () => {
    const { folder, result, archive } = await runDay();
    const status = await folder.run(['status', day, '--json']);
    expect(status.json).toMatchObject({ runs: [result.json as object] });
    const said = (await folder.run(['status', day])).stdout;
    for (const text of [remotePath, '20112026_Result.csv', archive.path, `hotel-review affected ${day}`])
      expect(said).toContain(text);
    expect(said).not.toContain('warning');
    const all = await folder.run(['status', '--json']);
    expect(all.json).toMatchObject({ runs: [{ state: 'succeeded', file: { remotePath } }] });
  });
});
