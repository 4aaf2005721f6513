import { describe, expect, it } from 'vitest';
import { findComparableNames, writeNames } from '../../src/booking/guest-names.js';

const complete = {
  serviceId: 7,
  bookingReferenceId: 'BR-1',
  bookingClientName: 'Ana Lovelace',
  providerName: 'Meridian',
  providerHotelId: 'H1',
  checkInDate: '2026-12-01',
  checkOutDate: '2026-12-05',
};

describe("guests' names", () => {
  it('are sent or left out', () => {
    const { bookingClientName: _, ...nameless } = complete;
    expect(writeNames(complete, 'send')).toEqual(complete);
    expect(writeNames(complete, 'omit')).toEqual(nameless);
  });

  it('are compared as long as none was left out', () => {
    expect(findComparableNames('send', [])).toBe('send');
    expect(findComparableNames('send', ['send'])).toBe('send');
    expect(findComparableNames('send', ['send', 'omit'])).toBe('omit');
    expect(findComparableNames('omit', ['send'])).toBe('omit');
  });
});
