import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce, expectError, expectReport } from '../support/expectations.js';
import { type MadeBooking, makeBookings } from '../support/made-bookings.js';

const bookings = makeBookings(120);

/** As an export with its own names and nesting writes it. */
const write = ({ ServiceId, BookingReferenceId, BookingClientName, ...rest }: MadeBooking) =>
  JSON.stringify({
    hotel_id: ServiceId,
    ref: BookingReferenceId,
    guest: { name: BookingClientName },
    ...rest,
  });

const source = {
  kind: 'ndjson',
  path: 'bookings-{day}.ndjson.gz',
  columns: { ServiceId: 'hotel_id', BookingReferenceId: 'ref', BookingClientName: 'guest.name' },
};

async function prepareNdjsonDay(lines: readonly string[]) {
  const prepared = await prepareDay({ settings: { source } });
  await writeFile(
    join(prepared.folder.path, `bookings-${day}.ndjson.gz`),
    gzipSync(lines.map((line) => `${line}\n`).join('')),
  );
  return prepared;
}

describe('a day in NDJSON', () => {
  it('is reviewed by body, each booking once; unreadable records are rejected with their line', async () => {
    const lines = bookings.map(write);
    lines.push(...lines.slice(0, 1));
    lines.splice(
      2,
      0,
      'Guest who is no JSON',
      '',
      '["Guest in a list"]',
      '{"hotel_id":9007199254740993,"ref":"big"}',
    );
    const { standIn, folder } = await prepareNdjsonDay(lines);
    const result = await folder.runDay();
    const counts = { read: 124, accepted: 120, duplicates: 1, rejected: 3, delivered: 120 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expectEachOnce(standIn, bookings);
    expect(result.stderr).toMatch(/malformed-json +1 +first at line 3/);
    expect(result.stderr).toMatch(/not-an-object +1 +first at line 5/);
    expect(result.stderr).toMatch(/service-id-invalid +1 +first at line 6/);
    expect(result.stderr).not.toContain('Guest');
  });

  it('that is truncated fails before anything is sent, and is resumed once it is complete', async () => {
    const { standIn, folder } = await prepareNdjsonDay([]);
    const path = join(folder.path, `bookings-${day}.ndjson.gz`);
    const text = bookings.map(write).join('\n');
    await writeFile(path, gzipSync(text.slice(0, -20)));
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error).toEqual({
      class: 'data',
      message: expect.stringMatching(/line 120: the file ends/),
    });
    expect(standIn.connections).toBe(0);
    expect(result.stderr).not.toContain('Guest ');

    await writeFile(path, gzipSync(text));
    expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 120 } });
    expectEachOnce(standIn, bookings);
  });

  it('without any master id fails, and says which name was not found', async () => {
    const { standIn, folder } = await prepareNdjsonDay(bookings.map((booking) => JSON.stringify(booking)));
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
    expect(result.report.error?.message).toMatch(
      /^no record of .* has the member "hotel_id" \(for ServiceId\)/,
    );
    expect(standIn.connections).toBe(0);
  });

  it('of a blank line is an empty day: it fails and sends nothing', async () => {
    const { standIn, folder } = await prepareNdjsonDay(['']);
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { read: 0, delivered: 0 } });
    expect(result.report.error?.message).toContain('emptyDay');
    expect(standIn.connections).toBe(0);
  });

  it('has no delimiter, says the configuration check', async () => {
    const { folder } = await prepareDay({ settings: { source: { ...source, delimiter: ';' } } });
    expectError(await folder.runDay(), {
      exitCode: 2,
      class: 'configuration',
      message: /source\.delimiter: unknown setting where kind is ndjson/,
    });
  });
});
