import { describe, expect, it } from 'vitest';
import { prepareDay } from '../support/day-folder.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';

const seenAt = Date.UTC(2026, 10, 1);
const movedAt = Date.UTC(2026, 10, 25);

/** Stays in the future whenever this runs, except the last one. */
const bookings = makeBookings(40).map((booking, index) => {
  const year = index === 39 ? '2026' : '2199';
  return { ...booking, CheckInDate: `${year}-01-02`, CheckOutDate: `${year}-01-09` };
});
const [rePointed, deleted] = bookings as [(typeof bookings)[0], (typeof bookings)[0]];
const past = bookings.at(-1) as (typeof bookings)[0];

describe('watch', () => {
  it('finds each upcoming stay whose mapping moved, once, and names its case', async () => {
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    expect((await folder.runDay()).exitCode).toBe(0);
    const none = await folder.run(['watch', '--json']);
    expect(none).toMatchObject({ exitCode: 0, json: { checkedMoves: 0, findings: [] } });
    expect((await folder.run(['watch'])).stdout).toContain('The local copy of the mappings is empty.');

    const before = { rows: bookings.map(mappingOf), at: seenAt };
    const moves = [
      { ...mappingOf(rePointed), serviceId: 5 },
      { ...mappingOf(deleted), isDeleted: true },
      { ...mappingOf(past), serviceId: 6 },
    ];
    await fillCopyOf(folder, before, { rows: moves, at: movedAt });
    const found = await folder.run(['watch', '--json']);
    expect(found).toMatchObject({
      exitCode: 0,
      json: {
        checkedMoves: 3,
        findings: [
          {
            providerName: rePointed.ProviderName,
            providerHotelId: rePointed.ProviderHotelId,
            serviceId: rePointed.ServiceId,
            copyServiceId: 5,
            move: 're-pointed',
            bookings: 1,
            caseId: expect.any(Number),
          },
          { providerHotelId: deleted.ProviderHotelId, copyServiceId: null, move: 'unmapped', bookings: 1 },
        ],
      },
    });
    const words = (await folder.run(['watch'])).stdout;
    expect(words).toBe('No mapping has moved since the last watch.\n');
  });

  it('shows what it found as a table, without guests', async () => {
    const { folder } = await prepareDay({ bookings: toCsv(bookings) });
    await folder.runDay();
    const moved = { ...mappingOf(rePointed), serviceId: 5 };
    await fillCopyOf(folder, { rows: [mappingOf(rePointed)], at: seenAt }, { rows: [moved], at: movedAt });
    const { stdout, stderr } = await folder.run(['watch', '--log-level', 'trace']);
    expect(stdout).toContain(
      '1 move of mappings compared with the upcoming stays: 1 booking may lead to another',
    );
    expect(stdout).toContain(' re-pointed to another master hotel');
    expect(stderr).toContain('"msg":"mappings watched"');
    expect(stdout + stderr).not.toContain(rePointed.BookingClientName);
  });
});
