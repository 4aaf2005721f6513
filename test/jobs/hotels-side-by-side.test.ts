import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import stringWidth from 'fast-string-width';
import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { prepareSandboxDay } from './sandbox-day.js';

interface HotelInJson {
  readonly serviceId: number;
  readonly name: string | null;
  readonly city: string | null;
  readonly phones: string | null;
  readonly timeZone: string | null;
  readonly localTime: string | null;
}

interface AffectedBooking {
  readonly BookingReferenceId: string;
  readonly ServiceId: number;
  readonly CheckInDate: string;
  readonly copyServiceId: number;
  readonly bookedHotel: HotelInJson | null;
  readonly copyHotel: HotelInJson | null;
  readonly distanceKm: number | null;
  readonly hoursToCheckIn: number | null;
}

type ContentRow = Readonly<Record<string, string>>;

const radians = (degrees: string | undefined) => (Number(degrees) * Math.PI) / 180;

/** By another formula than the command's: the spherical law of cosines. */
function kmBetween(one: ContentRow, other: ContentRow): number {
  const [north, otherNorth] = [radians(one.Lat), radians(other.Lat)];
  const east = radians(one.Long) - radians(other.Long);
  const cosine =
    Math.sin(north) * Math.sin(otherNorth) + Math.cos(north) * Math.cos(otherNorth) * Math.cos(east);
  return 6_371 * Math.acos(Math.min(1, cosine));
}

it('affected and show put the booked hotel next to the one of the copy', async () => {
  const { folder, counts } = await prepareSandboxDay({
    count: 400,
    settings: {
      delivery: 'file',
      file: { resultPollSeconds: 0.05, resultQuietSeconds: 0.2, resultTimeoutMinutes: 1 },
    },
  });
  const list = async () => {
    const { json } = await folder.run(['affected', day, '--json']);
    return (json as { affected: readonly AffectedBooking[] }).affected;
  };
  expect((await folder.run(['mappings', 'sync'])).exitCode).toBe(0);
  expect((await folder.runDay()).exitCode).toBe(0);

  const unknown = await list();
  expect(unknown).toHaveLength(counts.wrongMappings - counts.wrongUnfitForFile);
  for (const booking of unknown)
    expect(booking).toMatchObject({
      ...{ bookedHotel: null, copyHotel: null, distanceKm: null, hoursToCheckIn: null },
    });
  expect((await folder.run(['affected', day])).stdout).toContain('hotels load FILE');
  const [{ BookingReferenceId: reference }] = unknown as [AffectedBooking];
  expect((await folder.run(['show', reference])).stdout).not.toContain('booked:');

  await folder.run(['export', 'request', '--email', 'ops@example.com']);
  const { json: fetched } = await folder.run(['export', 'fetch', '--json']);
  const { archivedTo, files } = fetched as {
    archivedTo: string;
    files: readonly { kind: string; name: string }[];
  };
  const file = files.find(({ kind }) => kind === 'hotels')?.name ?? '';
  const rows = parse(readFileSync(join(archivedTo, file)), { columns: true }) as readonly ContentRow[];
  const contentOf = (serviceId: number) => {
    const row = rows.find(({ ServiceId }) => Number(ServiceId) === serviceId);
    if (!row) throw new Error(`no hotel ${serviceId} in the content file`);
    return row;
  };

  const affected = await list();
  expect(affected).toHaveLength(unknown.length);
  for (const booking of affected) {
    const [booked, copy] = [contentOf(booking.ServiceId), contentOf(booking.copyServiceId)];
    expect(booking.bookedHotel).toMatchObject({
      ...{ serviceId: booking.ServiceId, name: booked.HotelName, city: booked.City, phones: booked.Phones },
      ...{ timeZone: expect.any(String), localTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/) },
    });
    expect(booking.copyHotel).toMatchObject({ serviceId: booking.copyServiceId, name: copy.HotelName });
    expect(booking.distanceKm).toBeGreaterThan(0);
    expect(Math.abs((booking.distanceKm ?? 0) - kmBetween(booked, copy))).toBeLessThan(0.1);
    expect(booking.hoursToCheckIn).toEqual(expect.any(Number));
  }

  const { stdout } = await folder.run(['affected', day]);
  expect(stdout.match(/^ {4}booked: /gm)).toHaveLength(affected.length);
  expect(stdout.match(/^ {4}copy: /gm)).toHaveLength(affected.length);
  expect(stdout.match(/ km away/g)).toHaveLength(affected.length);
  for (const line of stdout.split('\n').filter((text) => text.startsWith('    ')))
    expect(stringWidth(line)).toBeLessThanOrEqual(80);

  await folder.run(['affected', day, '--csv', 'wrong.csv']);
  const csv = parse(readFileSync(join(folder.path, 'wrong.csv')), { columns: true, bom: true });
  expect(csv).toMatchObject(
    affected.map(({ bookedHotel, copyHotel, distanceKm }) => ({
      bookedHotelName: bookedHotel?.name,
      copyHotelCity: copyHotel?.city,
      distanceKm: String(distanceKm),
    })),
  );

  const [first] = affected as [AffectedBooking];
  const { stdout: shown } = await folder.run(['show', reference]);
  expect(shown).toContain(`    booked: ${first.bookedHotel?.name}, `);
  const { json } = await folder.run(['show', reference, '--json']);
  const { copyServiceId, copyHotel, distanceKm } = first;
  expect(json).toMatchObject({
    bookings: [{ copyServiceId, bookedHotel: { name: first.bookedHotel?.name }, distanceKm }],
  });
  expect((json as { bookings: [{ copyHotel: HotelInJson }] }).bookings[0].copyHotel.name).toBe(
    copyHotel?.name,
  );
  // A hotel that the next content file does not name is still shown.
  writeFileSync(join(folder.path, 'other.csv'), `${Object.keys(rows[0] ?? {}).join(',')}\n`);
  expect((await folder.run(['hotels', 'load', 'other.csv', '--json'])).json).toMatchObject({
    ...{ hotels: 0, kept: rows.length },
  });
  expect((await list())[0]?.bookedHotel?.name).toBe(first.bookedHotel?.name);
});
