import { describe, expect, it } from 'vitest';
import { makeBookings } from '../../src/sandbox/bookings/made-bookings.js';
import type { MadeRecord } from '../../src/sandbox/bookings/record-formats.js';
import { isWronglyMapped, madeDay, world } from './made-days.js';

const recordsOf = (changes = {}) => [...makeBookings(madeDay(changes))];
const kinds = (records: readonly MadeRecord[]) => new Set(records.map(({ kind }) => kind));
const bookingsOf = (records: readonly MadeRecord[]) => records.filter(({ kind }) => kind === 'booking');
const guestsOf = (records: readonly MadeRecord[]) =>
  records.map(({ bookingClientName }) => bookingClientName ?? '');
const dayBefore = (day: string, days: number) =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

describe('a made-up day', () => {
  const records = recordsOf();
  const bookings = bookingsOf(records);

  it('has the requested number of records', () => {
    expect(records).toHaveLength(20_000);
    expect(recordsOf({ count: 1 })).toHaveLength(1);
    expect(recordsOf({ count: 0 })).toEqual([]);
  });

  it('confuses hotels mostly with others in the same city', () => {
    const wrong = recordsOf({ wrongShare: 0.2 }).filter(({ isWrong }) => isWrong);
    const isNear = ({ serviceId, providerName, providerHotelId }: MadeRecord) => {
      const actual = world.serviceIdOf(providerName ?? '', providerHotelId ?? '') ?? 0;
      return world.hotelOf(Number(serviceId))?.city === world.hotelOf(actual)?.city;
    };
    expect(wrong.length).toBeGreaterThan(1_000);
    const near = wrong.filter(isNear).length;
    expect(near / wrong.length).toBeGreaterThan(0.7);
    expect(near).toBeLessThan(wrong.length * 0.85);
  });

  it('is the same for the same seed, and differs for another seed, day or world', () => {
    const some = (changes: object) => recordsOf({ count: 500, ...changes });
    expect(some({})).toEqual(some({}));
    expect(some({ seed: 2 })).not.toEqual(some({}));
    expect(guestsOf(some({ seed: 2 }))).not.toEqual(guestsOf(some({})));
    expect(some({ day: '2026-11-21' })).not.toEqual(some({}));
  });

  it('has the promised shares of duplicates, flawed and incomplete records', () => {
    const share = (part: readonly unknown[], whole: readonly unknown[]) => part.length / whole.length;
    const flawed = records.filter(({ kind }) => kind !== 'booking' && kind !== 'duplicate');
    expect(
      share(
        records.filter(({ kind }) => kind === 'duplicate'),
        records,
      ),
    ).toBeCloseTo(0.005, 3);
    expect(share(flawed, records)).toBeCloseTo(0.006, 3);
    expect(
      share(
        bookings.filter(({ missing }) => missing !== undefined),
        bookings,
      ),
    ).toBeCloseTo(0.03, 3);
    expect(kinds(records)).toEqual(
      new Set([
        'booking',
        'duplicate',
        'service-id-absent',
        'service-id-in-letters',
        'service-id-zero',
        'service-id-too-large',
        'name-in-two-parts',
        'quotes-not-escaped',
      ]),
    );
  });

  it('repeats an earlier booking in each duplicate', () => {
    const key = ({ kind: _, ...fields }: MadeRecord) => JSON.stringify(fields);
    const before = new Set<string>();
    for (const record of records) {
      if (record.kind === 'duplicate') expect(before).toContain(key(record));
      before.add(key(record));
    }
  });

  it('uses no reference twice, and bookings without a reference differ from each other', () => {
    const many = bookingsOf(recordsOf({ count: 60_000 }));
    const references = many.flatMap(({ bookingReferenceId }) => bookingReferenceId?.trim() || []);
    expect(references.length).toBeGreaterThan(57_000);
    expect(new Set(references).size).toBe(references.length);
    const others = many.filter(({ missing }) => missing === 'bookingReferenceId');
    const hotels = others.map(({ providerName, providerHotelId }) => `${providerName} ${providerHotelId}`);
    expect(new Set(hotels).size).toBe(hotels.length);
  });

  it('books stays of one to 21 nights, starting three days before the day at the earliest', () => {
    for (const { checkInDate, checkOutDate } of bookings) {
      if (!checkInDate?.trim() || !checkOutDate?.trim()) continue;
      const nights = (Date.parse(checkOutDate) - Date.parse(checkInDate)) / 86_400_000;
      expect(nights).toBeGreaterThanOrEqual(1);
      expect(nights).toBeLessThanOrEqual(21);
      expect(checkInDate >= dayBefore('2026-11-20', 3)).toBe(true);
      expect(checkInDate <= dayBefore('2026-11-20', -330)).toBe(true);
    }
    expect(bookings.some(({ checkInDate }) => checkInDate === '2026-11-20')).toBe(true);
  });

  it('stays within the calendar on its first and last days', () => {
    for (const day of ['0001-01-01', '9999-12-31']) {
      for (const { checkInDate, checkOutDate } of recordsOf({ day, count: 2_000 })) {
        expect(`${checkInDate?.trim() || day} ${checkOutDate?.trim() || day}`).toMatch(
          /^(?:0001|0002|9999)-\d\d-\d\d (?:0001|0002|9999)-\d\d-\d\d$/,
        );
      }
    }
  });

  it('has guest names in many scripts and names that often break programs', () => {
    const guests = guestsOf(bookings);
    for (const script of [
      'Greek',
      'Cyrillic',
      'Arabic',
      'Hebrew',
      'Han',
      'Hiragana',
      'Hangul',
      'Thai',
      'Devanagari',
    ]) {
      expect(guests.some((name) => new RegExp(`\\p{Script=${script}}`, 'u').test(name))).toBe(true);
    }
    for (const name of ['Null', 'None', 'García, Luis', 'Zoë "Zo" Brandt', "Siobhán O'Neill"])
      expect(guests).toContain(name);
    for (const pattern of [/\n/, /^\s/, /\s$/, /\p{Emoji_Presentation}/u, /\p{M}/u]) {
      const found = guests.filter((name) => name.trim() !== '' && pattern.test(name));
      expect(found.length).toBeGreaterThan(0);
      expect(found.length).toBeLessThan(guests.length / 20);
    }
    expect(guests.some((name) => name !== name.normalize('NFC'))).toBe(true);
    expect(new Set(guests).size).toBeGreaterThan(1_000);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('shows all of this in its first 50 records, with the seed %i', (seed) => {
    for (const count of [50, 20_000]) {
      const first = recordsOf({ seed, count }).slice(0, 50);
      const guests = guestsOf(first);
      expect(first.filter(({ kind }) => kind !== 'booking' && kind !== 'duplicate')).toHaveLength(1);
      expect(first.some(({ kind }) => kind === 'duplicate')).toBe(true);
      expect(first.some(({ missing }) => missing !== undefined)).toBe(true);
      expect(first.filter(isWronglyMapped).length).toBeGreaterThan(0);
      expect(guests).toContain('Null');
      expect(guests.some((name) => name.includes(','))).toBe(true);
      expect(guests.some((name) => name.includes('"'))).toBe(true);
      expect(guests.some((name) => /[^\p{ASCII}]/u.test(name))).toBe(true);
    }
  });

  it.each([1, 10, 11, 20, 49, 200])('of %i records never has more than a tenth of rejected ones', (count) => {
    for (let seed = 0; seed < 50; seed += 1) {
      const flawed = recordsOf({ count, seed }).filter(
        ({ kind }) => kind !== 'booking' && kind !== 'duplicate',
      );
      expect(flawed.length / count).toBeLessThanOrEqual(0.1);
    }
  });
});

describe('the wrong mappings of a made-up day', () => {
  it.each([0, 0.001, 0.02, 0.3, 1])('are the share %f of the bookings that can be wrong', (wrongShare) => {
    const bookings = bookingsOf(recordsOf({ wrongShare }));
    const canBeWrong = bookings.filter(
      ({ missing }) => !['bookingReferenceId', 'providerName', 'providerHotelId'].includes(missing ?? ''),
    );
    const wrong = bookings.filter(({ isWrong }) => isWrong);
    expect(Math.abs(wrong.length - canBeWrong.length * wrongShare)).toBeLessThanOrEqual(1);
    expect(wrong.every((record) => canBeWrong.includes(record))).toBe(true);
  });

  it('are exactly those the world considers wrong, each with a reference, a provider and known hotels', () => {
    const bookings = bookingsOf(recordsOf());
    const ids = new Set(world.hotels.map(({ serviceId }) => String(serviceId)));
    expect(bookings.filter(isWronglyMapped)).toEqual(bookings.filter(({ isWrong }) => isWrong));
    for (const booking of bookings) expect(ids).toContain(booking.serviceId);
    for (const booking of bookings.filter(({ isWrong }) => isWrong)) {
      expect(booking.bookingReferenceId).toMatch(/^BR-261120-\d+$/);
      expect(world.serviceIdOf(booking.providerName ?? '', booking.providerHotelId ?? '')).toBeDefined();
    }
  });

  it('are spread over the day', () => {
    const bookings = bookingsOf(recordsOf());
    for (let from = 0; from < 19_000; from += 1_000) {
      const wrong = bookings.slice(from, from + 1_000).filter(({ isWrong }) => isWrong);
      expect(wrong.length).toBeGreaterThanOrEqual(15);
      expect(wrong.length).toBeLessThanOrEqual(25);
    }
  });
});
