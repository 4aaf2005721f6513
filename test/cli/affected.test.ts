import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { affectedColumns, renderAffected } from '../../src/cli/affected.js';
import { createCsvFile } from '../../src/cli/output-files.js';
import { UsageError } from '../../src/review/refusals.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

const day = '2026-11-20';
const verdicts = { affected: 1, unanswered: 0, unclear: 0, malformed: 0 };
const reviewed = someRun({ delivery: 'file', file: { verdicts } });

describe('the affected bookings', () => {
  it('of a day without a run are unknown', () => {
    expect(renderAffected(day, undefined, [], { command })).toBe('There is no run of 2026-11-20.\n');
  });

  it('of a run whose result has not arrived are unknown', () => {
    const run = someRun({ state: 'awaiting-result', delivery: 'file', file: { rows: 3 } });
    expect(renderAffected(day, run, [], { command })).toBe(
      'No result of 2026-11-20 has arrived yet: run 20261120-k3f9xq7d is awaiting-result.\n',
    );
  });

  it('of a run by body are reported by the service only', () => {
    expect(renderAffected(day, someRun({ delivery: 'body' }), [], { command })).toBe(
      '2026-11-20 was reviewed by body: the service reports affected bookings only by e-mail (run 20261120-k3f9xq7d).\n',
    );
  });

  it('are none where the result marks none', () => {
    expect(renderAffected(day, reviewed, [], { command })).toBe(
      '2026-11-20: the result marks no booking as affected (run 20261120-k3f9xq7d).\n',
    );
  });

  it('are a table without the guest', () => {
    const text = renderAffected(
      day,
      reviewed,
      [
        {
          BookingReferenceId: 'BR-1042',
          ServiceId: 7,
          BookingClientName: 'Ana Lovelace',
          ProviderName: 'hotelbeds',
          ProviderHotelId: '00123',
          CheckInDate: '2026-11-20',
          CheckOutDate: '2026-11-23',
        },
        { BookingReferenceId: 'BR-2', ServiceId: 8 },
      ],
      { command },
    );
    const [title, ...table] = text.split('\n');
    expect(title).toBe('2026-11-20: affected bookings: 2 (run 20261120-k3f9xq7d)');
    expect(table.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['BookingReferenceId', 'ServiceId', 'ProviderName', 'ProviderHotelId', 'CheckInDate'],
      ['BR-1042', '7', 'hotelbeds', '00123', '2026-11-20'],
      ['BR-2', '8'],
      [''],
    ]);
  });

  it('are at most two hundred, with a hint where the others are', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, number) => ({ BookingReferenceId: `BR-${number}` }));
    const all = renderAffected(day, reviewed, many(200), { command });
    expect(all).toContain('  BR-199');
    expect(all).not.toContain('more');
    const text = renderAffected(day, reviewed, many(1_300), { command });
    expect(text).toContain('2026-11-20: affected bookings: 1,300');
    expect(text).toContain('  BR-199');
    expect(text).not.toContain('BR-200');
    expect(text.split('\n').at(-2)).toBe('  … and 1,100 more; --csv FILE lists all');
  });

  it('are in the given file', () => {
    const text = renderAffected(day, reviewed, [{ BookingReferenceId: 'BR-1' }], {
      command,
      csv: 'wrong.csv',
    });
    expect(text.split('\n').slice(-2)).toEqual(['All of them are in wrong.csv.', '']);
  });
});

const header = '\uFEFFServiceId,BookingReferenceId,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate\n';
const booking = {
  ServiceId: 7,
  BookingReferenceId: 'BR-1, "two"',
  BookingClientName: 'Ana Lovelace',
  ProviderName: 'hotelbeds',
  ProviderHotelId: '00123',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-23',
};

describe('the CSV of affected bookings', () => {
  it('contains all that was added, in order, without guests’ names, readable only for its owner', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    const file = await createCsvFile(affectedColumns, path);
    await file.add([booking, { ...booking, BookingReferenceId: 'BR-2' }]);
    await file.add([{ ServiceId: 8 }]);
    await file.finish();
    expect(await readFile(path, 'utf8')).toBe(
      `${header}7,"BR-1, ""two""",hotelbeds,00123,2026-11-20,2026-11-23\n` +
        '7,BR-2,hotelbeds,00123,2026-11-20,2026-11-23\n8,,,,,\n',
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is only a header where no booking is affected', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await (await createCsvFile(affectedColumns, path)).finish();
    expect(await readFile(path, 'utf8')).toBe(header);
  });

  it.each([';', '\t'])('separates its cells as asked: %j', async (delimiter) => {
    const path = join(await createFolder(), 'wrong.csv');
    const file = await createCsvFile(['ProviderName', 'ServiceId'], path, path, delimiter);
    await file.add([{ ServiceId: 7, ProviderName: 'a;b\tc,d' }]);
    await file.finish();
    expect(await readFile(path, 'utf8')).toBe(
      `\uFEFFProviderName${delimiter}ServiceId\n"a;b\tc,d"${delimiter}7\n`,
    );
  });

  it('never overwrites a file', async () => {
    const path = join(await createFolder(), 'wrong.csv');
    await writeFile(path, 'of an earlier time');
    const error = await createCsvFile(affectedColumns, path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`--csv: ${path} exists already; name a new file`);
    expect(await readFile(path, 'utf8')).toBe('of an earlier time');
  });

  it('is refused where it cannot be created', async () => {
    const path = join(await createFolder(), 'nowhere', 'wrong.csv');
    const error = await createCsvFile(affectedColumns, path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`--csv: ${path} can't be written (ENOENT)`);
  });
});

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
