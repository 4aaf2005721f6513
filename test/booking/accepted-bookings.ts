import { expect } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { countDates, createNormaliser } from '../../src/booking/normalise.js';

/** A record that needs no changes. */
export const complete = {
  ServiceId: '100200',
  BookingReferenceId: 'BR-1042',
  BookingClientName: 'Ana Example',
  ProviderName: 'hotelbeds',
  ProviderHotelId: '00123',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-23',
} satisfies RawBooking;

export function accept(raw: RawBooking, dateFormat?: string) {
  const normalised = createNormaliser({ dateFormat })(raw);
  if (normalised.kind === 'reject') throw new Error(`rejected as ${normalised.reason}`);
  return { ...normalised, dates: countDates(normalised.booking, normalised.warnings) };
}

export const toReference = (value: unknown) =>
  accept({ ServiceId: 1, BookingReferenceId: value }).booking.bookingReferenceId;
export const toName = (value: unknown) =>
  accept({ ServiceId: 1, BookingClientName: value }).booking.bookingClientName;
export const toCheckIn = (value: unknown, dateFormat?: string) =>
  accept({ ServiceId: 1, CheckInDate: value }, dateFormat).booking.checkInDate;

/** Checks the rules of fields for a text, character by character. */
export function expectTidy(text: string): void {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    expect(code < 0x20 || (code >= 0x7f && code <= 0x9f) || code === 0x2028 || code === 0x2029).toBe(false);
    expect(code >= 0xd800 && code <= 0xdfff).toBe(false);
  }
  expect(text).not.toBe('');
  expect(text.trim()).toBe(text);
}
