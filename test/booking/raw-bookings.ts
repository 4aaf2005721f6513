import fc from 'fast-check';
import type { RawBooking } from '../../src/booking/booking.js';

/** Any JavaScript string, including unpaired surrogates. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
);

/** Texts that exercise the rules of fields: words for "no value", blanks, line breaks, lone surrogates, dates. */
const trickyText = fc
  .array(
    fc.constantFrom(
      ...['null', 'NULL', 'None', 'NaN', 'undefined', 'Ana', 'Žižek', '😀', '0', '7', 'T', ':', '-', '/'],
      ...[' ', '\t', '\r\n', '\0', '\x1b', '\x7f', '\x85', '\xa0', '\u2028', '\u2029', '\u3000', '\ufeff'],
      ...['\ud83d', '\ude00', '2026-11-20', '20/11/2026', '2026-02-30', '14:30'],
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));

const plausibleId = fc.oneof(fc.integer({ min: 1 }), fc.integer({ min: 1 }).map(String));
const plausibleDate = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const anyField = fc.oneof(anyText, trickyText, fc.jsonValue(), fc.anything());

/** Records of every kind, many of them valid. */
export const anyRawBooking: fc.Arbitrary<RawBooking> = fc.record(
  {
    ServiceId: fc.oneof({ weight: 8, arbitrary: plausibleId }, { weight: 1, arbitrary: anyField }),
    BookingReferenceId: fc.oneof({ weight: 8, arbitrary: trickyText }, { weight: 1, arbitrary: anyField }),
    BookingClientName: fc.oneof({ weight: 8, arbitrary: trickyText }, { weight: 1, arbitrary: anyField }),
    ProviderName: fc.oneof({ weight: 8, arbitrary: anyText }, { weight: 1, arbitrary: anyField }),
    ProviderHotelId: fc.oneof({ weight: 8, arbitrary: trickyText }, { weight: 1, arbitrary: anyField }),
    CheckInDate: fc.oneof({ weight: 8, arbitrary: plausibleDate }, { weight: 2, arbitrary: anyField }),
    CheckOutDate: fc.oneof({ weight: 8, arbitrary: plausibleDate }, { weight: 2, arbitrary: anyField }),
  },
  { requiredKeys: ['ServiceId'] },
);
