import { describe, expect, it } from 'vitest';
import {
  bookingFields,
  buildBooking,
  buildRecord,
  listTexts,
  listValues,
  serviceFields,
  textFields,
} from '../../src/booking/booking.js';

describe('The table of fields', () => {
  const names = textFields.map(({ name }) => name);

  it('begins with the master id, the only required field', () => {
    expect(bookingFields.map(({ isRequired }) => isRequired)).toEqual(
      bookingFields.map(({ kind }) => kind === 'id'),
    );
    expect(bookingFields[0].name).toBe('ServiceId');
  });

  it('ends with the fields by which stored lines are read: the hotel of the provider and the only two dates', () => {
    // stored-line.ts and render-line.ts find these cells by their places.
    expect(serviceFields.slice(-4)).toEqual([
      'ProviderName',
      'ProviderHotelId',
      'CheckInDate',
      'CheckOutDate',
    ]);
    // render-line.ts takes every other date for check-out, and countDates counts no third one.
    const dates = bookingFields.filter(({ kind }) => kind === 'date');
    expect(dates.map(({ name }) => name)).toEqual(['CheckInDate', 'CheckOutDate']);
  });

  it('is in the order in which records are built and read', () => {
    const record = buildRecord((place) => serviceFields[place]);
    expect(Object.entries(record)).toEqual(serviceFields.map((name) => [name, name]));
    expect(listValues(record)).toEqual(serviceFields);
  });

  it('is in the order in which bookings are built and read', () => {
    const booking = buildBooking(1, names);
    expect(Object.entries(booking)).toEqual([
      ['serviceId', 1],
      ...textFields.map(({ property, name }) => [property, name]),
    ]);
    expect(listTexts(booking)).toEqual(names);
  });

  it('leaves missing fields out of a booking', () => {
    expect(Object.keys(buildBooking(1, []))).toEqual(['serviceId']);
  });
});
