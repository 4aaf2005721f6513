import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { renderDay } from '../../src/sandbox/bookings/day-text.js';
import { makeBookings } from '../../src/sandbox/bookings/made-bookings.js';
import {
  formatOfName,
  NameTakenError,
  streamDay,
  writeDayFile,
} from '../../src/sandbox/bookings/write-day.js';
import { patienceMs } from '../support/patience.js';
import { madeDay, textOf } from './made-days.js';

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the text of a made-up day', () => {
  it('is identical for the same arguments, byte for byte', async () => {
    const day = madeDay({ count: 2_000 });
    expect(sha256Of((await textOf(day, 'csv')).text)).toBe(
      '6c3b172024a951239d0040d8df5b7c96b0a6088a44e1442a551328ba624fedc3',
    );
    expect(sha256Of((await textOf(day, 'ndjson')).text)).toBe(
      '84a3c56c66eba4a8e3d27fc938c54719081228914792509368f7645e103555f7',
    );
    expect(sha256Of((await textOf({ ...day, seed: 2 }, 'csv')).text)).not.toBe(
      '6c3b172024a951239d0040d8df5b7c96b0a6088a44e1442a551328ba624fedc3',
    );
  });

  it('as CSV is read by independent parsers, except for the deliberately malformed records', async () => {
    const records = [...makeBookings(madeDay())];
    const flawed = ['name-in-two-parts', 'quotes-not-escaped'];
    const { text } = await textOf(madeDay(), 'csv');
    // Without columns, so that a record of eight cells is accepted; records broken by a quote are skipped.
    const rows: string[][] = parse(text, { relax_column_count: true, skip_records_with_error: true });
    const good = rows.slice(1).filter((row) => row.length === 7);
    const written = (cell: string | null | undefined) => (cell === null ? 'NULL' : (cell ?? ''));
    expect(good).toEqual(
      records
        .filter(({ kind }) => !flawed.includes(kind))
        .map((record) =>
          [
            record.serviceId,
            record.bookingReferenceId,
            record.bookingClientName,
            record.providerName,
            record.providerHotelId,
            record.checkInDate,
            record.checkOutDate,
          ].map(written),
        ),
    );
    expect(rows.filter((row) => row.length === 8)).toHaveLength(
      records.filter(({ kind }) => kind === 'name-in-two-parts').length,
    );
  });

  it('as NDJSON has one object per line, except for the deliberately malformed records', async () => {
    const records = [...makeBookings(madeDay())];
    const { text } = await textOf(madeDay(), 'ndjson');
    const lines = text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(records.length);
    for (const [index, record] of records.entries()) {
      const line = lines[index] ?? '';
      if (record.kind === 'quotes-not-escaped') {
        expect(() => JSON.parse(line)).toThrow(SyntaxError);
        continue;
      }
      const isNumber = record.serviceId !== undefined && /^\d+$/.test(record.serviceId);
      const isSplit = record.kind === 'name-in-two-parts';
      expect(JSON.parse(line)).toEqual({
        ServiceId: isNumber ? Number(record.serviceId) : record.serviceId,
        BookingReferenceId: record.bookingReferenceId,
        BookingClientName: isSplit ? record.bookingClientName?.split(', ') : record.bookingClientName,
        ProviderName: record.providerName,
        ProviderHotelId: record.providerHotelId,
        CheckInDate: record.checkInDate,
        CheckOutDate: record.checkOutDate,
      });
    }
  });

  it('of a day without records is a valid empty day', async () => {
    expect((await textOf(madeDay({ count: 0 }), 'csv')).text).toBe(
      'ServiceId,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate\n',
    );
    expect((await textOf(madeDay({ count: 0 }), 'ndjson')).text).toBe('\n');
  });

  it('comes with counts that add up', async () => {
    const { counts } = await textOf(madeDay(), 'csv');
    const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
    expect(counts.records).toBe(20_000);
    expect(counts.bookings + counts.duplicates + counts.rejected).toBe(20_000);
    expect(sum(counts.rejects.map(({ count }) => count))).toBe(counts.rejected);
    expect(sum(Object.values(counts.missing))).toBe(counts.incomplete);
    expect(counts.unfitForFile).toBeGreaterThan(counts.incomplete);
    expect(counts.wrongReferences).toEqual(
      [...makeBookings(madeDay())]
        .filter(({ kind, isWrong }) => kind === 'booking' && isWrong)
        .slice(0, 5)
        .map(({ bookingReferenceId }) => bookingReferenceId),
    );
  });
});

describe('a made-up day in a file', () => {
  it.each(['csv', 'ndjson'] as const)(
    'is the text as %s, plain or compressed by its name, for its owner only',
    async (format) => {
      const folder = await createFolder();
      const { text, counts } = await textOf(madeDay(), format);
      for (const name of [`day.${format}`, `day.${format}.gz`]) {
        const path = join(folder, name);
        expect(await writeDayFile(path, madeDay(), format)).toEqual(counts);
        const bytes = await readFile(path);
        expect((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()).toBe(text);
        expect((await stat(path)).mode & 0o777).toBe(0o600);
      }
      expect((await readdir(folder)).sort()).toEqual([`day.${format}`, `day.${format}.gz`]);
    },
  );

  it('never replaces a file or a dangling link', async () => {
    const folder = await createFolder();
    const [there, link] = [join(folder, 'there.csv'), join(folder, 'link.csv')];
    await writeFile(there, 'mine');
    await symlink(join(folder, 'nowhere'), link);
    // A size that would take minutes: it is refused before anything is made.
    const day = madeDay({ count: 500_000_000 });
    for (const path of [there, link])
      await expect(writeDayFile(path, day, 'csv')).rejects.toThrow(NameTakenError);
    expect(await readFile(there, 'utf8')).toBe('mine');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await readdir(folder)).sort()).toEqual(['link.csv', 'there.csv']);
  });

  it('does not replace a file that appeared while it was being written', async () => {
    const folder = await createFolder();
    const path = join(folder, 'day.csv');
    const written = writeDayFile(path, madeDay({ count: 100_000 }), 'csv').catch((error: unknown) => error);
    await vi.waitUntil(async () => (await readdir(folder)).some((name) => name.endsWith('.partial')), {
      timeout: patienceMs,
    });
    await writeFile(path, 'mine');
    expect(await written).toBeInstanceOf(NameTakenError);
    expect(await readFile(path, 'utf8')).toBe('mine');
    expect(await readdir(folder)).toEqual(['day.csv']);
  });

  it('does not appear and leaves nothing behind when it is stopped', async () => {
    const folder = await createFolder();
    const stop = new AbortController();
    const reason = new Error('stopped by the test');
    const written = writeDayFile(
      join(folder, 'day.csv.gz'),
      madeDay({ count: 50_000_000 }),
      'csv',
      stop,
    ).catch((error: unknown) => error);
    const sizes = async () =>
      Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
    await vi.waitUntil(async () => (await sizes()).some((size) => size > 0), { timeout: patienceMs });
    expect(await readdir(folder)).not.toContain('day.csv.gz');
    stop.abort(reason);
    expect(await written).toBe(reason);
    expect(await readdir(folder)).toEqual([]);
  });

  it('gets its format from its name', () => {
    expect(formatOfName('out/day.csv')).toBe('csv');
    expect(formatOfName('day.2026.csv.gz')).toBe('csv');
    expect(formatOfName('day.ndjson')).toBe('ndjson');
    expect(formatOfName('day.ndjson.gz')).toBe('ndjson');
    for (const name of ['day', 'csv', 'day.gz', 'day.json', 'day.csv.zip', 'day.csv/'])
      expect(formatOfName(name)).toBeUndefined();
  });
});

describe('a made-up day in a stream', () => {
  it('respects back-pressure and leaves the stream open', async () => {
    let text = '';
    let most = 0;
    const slow = new Writable({
      highWaterMark: 1_000,
      write(chunk, _encoding, done) {
        text += String(chunk);
        most = Math.max(most, slow.writableLength);
        // Slower than the day is generated.
        setImmediate(() => setImmediate(() => setImmediate(done)));
      },
    });
    expect(await streamDay(renderDay(madeDay(), 'csv'), slow)).toBe(true);
    expect(text).toBe((await textOf(madeDay(), 'csv')).text);
    expect(most).toBeLessThan(200_000);
    expect(slow.writableEnded).toBe(false);
  });

  it('stops when asked to while nobody reads', async () => {
    const stuck = new Writable({ highWaterMark: 1_000, write: () => {} });
    const stop = new AbortController();
    const reason = new Error('stopped by the test');
    const streamed = streamDay(renderDay(madeDay(), 'csv', stop), stuck, stop).catch(
      (error: unknown) => error,
    );
    await vi.waitUntil(() => stuck.writableNeedDrain, { timeout: patienceMs });
    stop.abort(reason);
    expect(await streamed).toBe(reason);
  });

  it('fails with the error of the stream', async () => {
    const fault = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const full = new Writable({
      highWaterMark: 100_000_000,
      write: (_chunk, _encoding, done) => setImmediate(done, fault),
    });
    await expect(streamDay(renderDay(madeDay(), 'csv'), full)).rejects.toBe(fault);
  });
});
