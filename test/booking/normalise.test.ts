import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Booking, bookingFields, type RawBooking, serviceFields } from '../../src/booking/booking.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import {
  addDates,
  countDates,
  createNormaliser,
  noDates,
  openNormaliser,
} from '../../src/booking/normalise.js';
import { accept, complete, expectTidy, toName, toReference } from './accepted-bookings.js';
import { anyRawBooking, anyText } from './raw-bookings.js';

const normalise = createNormaliser();

/** A booking as a source would return it. */
function asRaw(booking: Booking): RawBooking {
  return Object.fromEntries(bookingFields.map(({ name, property }) => [name, booking[property]]));
}

describe('a record', () => {
  it('with all fields valid becomes a booking without warnings', () => {
    expect(normalise(complete)).toEqual({
      kind: 'booking',
      booking: {
        serviceId: 100200,
        bookingReferenceId: 'BR-1042',
        bookingClientName: 'Ana Example',
        providerName: 'hotelbeds',
        providerHotelId: '00123',
        checkInDate: '2026-11-20',
        checkOutDate: '2026-11-23',
      },
      warnings: [],
    });
  });

  it('with only an id becomes a booking without other properties', () => {
    const { booking, dates } = accept({ ServiceId: 7, CheckInDate: null, ProviderName: ' ' });
    expect(Object.keys(booking)).toEqual(['serviceId']);
    expect(dates).toMatchObject({ given: 0, unreadable: 0 });
  });
});

describe('the service id', () => {
  it.each([
    ['0042', 42],
    [`${'0'.repeat(40)}42`, 42],
    ["'42", 42],
    ['="0042"', 42],
    ['\u200b42\u2060', 42],
    ['9007199254740991', 9007199254740991],
    [9007199254740991, 9007199254740991],
  ])('%j is %d', (value, serviceId) => {
    expect(accept({ ServiceId: value }).booking.serviceId).toBe(serviceId);
  });

  it.each([undefined, null, '', ' ', '\u3000', '\0', 'NULL', 'none', 'NaN', 'Undefined'])(
    '%j is missing',
    (value) => {
      expect(normalise({ ...complete, ServiceId: value })).toEqual({
        kind: 'reject',
        reason: 'service-id-missing',
        field: 'ServiceId',
      });
    },
  );

  it.each([
    ...['0', '000', '-1', '+1', '1.0', '1e3', '0x1F', '1 2', '1,000', '9007199254740992', '9007199254740993'],
    ...['99999999999999999', '１２３', '١٢٣', 'H-12', '1.00001E+5', '1\n2'],
    ...[0, -0, -1, 1.5, 9007199254740992, Number.NaN, Number.POSITIVE_INFINITY, 5n],
    ...[true, [], [1], {}, { toString: () => '1' }, Symbol('1'), () => 1],
  ])('%s is invalid', (value) => {
    expect(normalise({ ...complete, ServiceId: value })).toEqual({
      kind: 'reject',
      reason: 'service-id-invalid',
      field: 'ServiceId',
    });
  });
});

it.each(['1.23457E+11', '1,23457E+11', '-2.5e-7', ' 1.2e+308'])(
  'an id that a spreadsheet rounded to %j is a reject',
  (id) => {
    const reject = (field: string) => ({ kind: 'reject', reason: 'id-rounded', field });
    expect(normalise({ ...complete, ProviderHotelId: id })).toEqual(reject('ProviderHotelId'));
    expect(normalise({ ...complete, BookingReferenceId: id })).toEqual(reject('BookingReferenceId'));
    expect(normalise({ ...complete, BookingClientName: id }).kind).toBe('booking');
  },
);

it.each(['N\ufffdrth', 'a\ud83db', '\ude00'])(
  'a value that is no valid text rejects an id, and a name is missing: %j',
  (text) => {
    const reject = (field: string) => ({ kind: 'reject', reason: 'id-garbled', field });
    expect(normalise({ ...complete, ProviderHotelId: text })).toEqual(reject('ProviderHotelId'));
    expect(normalise({ ...complete, BookingReferenceId: text })).toEqual(reject('BookingReferenceId'));
    expect(normalise({ ...complete, ServiceId: text })).toMatchObject({ reason: 'service-id-invalid' });
    const named = normalise({ ...complete, BookingClientName: text, ProviderName: text });
    expect(named).toMatchObject({ warnings: ['garbled-client-name', 'garbled-provider-name'] });
    expect(named.kind === 'booking' && Object.keys(named.booking)).not.toContain('providerName');
    expect(JSON.stringify(named)).not.toMatch(/\ufffd/);
  },
);

describe('a placeholder of another writer', () => {
  const placeholders = ['\\N', '#N/A', '#REF!', '(null)', '<null>', 'n/a', '-'];
  const spellings = placeholders.flatMap((text) => [
    text,
    text.toUpperCase(),
    ` ${text}\u200b`,
    `="${text}"`,
  ]);
  const fields = ['BookingReferenceId', 'ProviderHotelId', 'CheckInDate', 'CheckOutDate'] as const;

  it.each([...spellings, ...spellings.map((text) => text.toLowerCase())])(
    '%j stands for a missing id or date, and is a name',
    (text) => {
      expect(normalise({ ...complete, ServiceId: text })).toEqual({
        kind: 'reject',
        reason: 'service-id-missing',
        field: 'ServiceId',
      });
      for (const field of fields)
        expect(normalise({ ...complete, [field]: text })).toEqual(
          normalise({ ...complete, [field]: undefined }),
        );
      const named = accept({ ...complete, BookingClientName: text, ProviderName: text }).booking;
      expect(named.bookingClientName).toBeDefined();
      expect(named.providerName).toBeDefined();
    },
  );

  it.each(['\\NN', '#N/A!', 'null)', 'n/a 1', '--', '- -', 'A-', '#BEZUG!', '0'])('%j is none', (text) => {
    expect(accept({ ...complete, ProviderHotelId: text }).booking.providerHotelId).toBe(text);
  });

  it('may be a word of the source itself', () => {
    const own = createNormaliser({ missing: ['#BEZUG!', ' Sin Dato', 'ÉTÉ', '0', '2001-01-01'] });
    for (const text of ['#Bezug!', 'SIN dato ', 'e\u0301te\u0301', 0, '2001-01-01', '-'])
      for (const field of fields)
        expect(own({ ...complete, [field]: text })).toEqual(own({ ...complete, [field]: null }));
    const noId = { kind: 'reject', reason: 'service-id-missing', field: 'ServiceId' };
    for (const ServiceId of ['0', 0, 'sin dato']) expect(own({ ...complete, ServiceId })).toEqual(noId);
    expect(own.placeholders.words).toContain('sin dato');
    expect(own({ ...complete, BookingClientName: '0', ProviderHotelId: '00' })).toMatchObject({
      booking: { bookingClientName: '0', providerHotelId: '00' },
    });
  });
});

describe('a date far from the business day', () => {
  const ofDay = createNormaliser({ day: '2026-11-20' });
  const judge = (dates: RawBooking) => {
    const normalised = ofDay({ ServiceId: 7, ...dates });
    if (normalised.kind === 'reject') throw new Error(normalised.reason);
    const { booking, warnings } = normalised;
    return { sent: [booking.checkInDate, booking.checkOutDate], warnings, ...countDates(booking, warnings) };
  };

  it.each([
    ['2024-11-19', '2026-12-05', ['implausible-check-in-date'], 1],
    ['2031-11-21', '2026-12-05', ['implausible-check-in-date'], 1],
    ['2024-11-20', '2031-11-20', [], 0],
    ['2026-12-01', '9999-12-31', ['implausible-check-out-date'], 0],
    // What stands for an unknown day says nothing about the format.
    ['1900-01-01', '9999-12-31', ['implausible-check-in-date', 'implausible-check-out-date'], 0],
    ['9999-12-31', '2026-12-05', ['implausible-check-in-date'], 0],
    ['2026-12-05', '2026-12-01', ['check-out-before-check-in'], 0],
  ])('is sent as written, with a warning: %s to %s', (CheckInDate, CheckOutDate, warnings, implausible) => {
    const sent = [CheckInDate, CheckOutDate];
    expect(judge({ CheckInDate, CheckOutDate })).toEqual({
      ...{ sent, warnings, implausible },
      ...{ given: 2, unreadable: 0, checkIns: 1 },
    });
  });

  it('is a warning beside others', () => {
    const raw = { ProviderName: '\ufffd', CheckInDate: '2026-12-05', CheckOutDate: '2026-12-01' };
    expect(judge(raw).warnings).toEqual(['garbled-provider-name', 'check-out-before-check-in']);
  });

  it('is counted with those of other bookings', () => {
    const sum = noDates();
    for (const CheckInDate of ['1999-01-01', '1999-01-01', 'soon', '2026-12-05'])
      addDates(sum, judge({ CheckInDate, CheckOutDate: '2026-12-06' }));
    expect(sum).toEqual({ given: 8, unreadable: 1, checkIns: 3, implausible: 2 });
  });
});

it.each([
  ['=cmd|calc', '=cmd|calc'],
  ['="Ana"', 'Ana'],
  ["'Ana'", "'Ana'"],
  ['D’Amico', 'D’Amico'],
])('the name %j becomes %j', (value, name) => {
  expect(toName(value)).toBe(name);
});

it('the name of a provider loses what nobody can see', () => {
  const { providerName } = accept({ ServiceId: 1, ProviderName: '\u200bNorth\u00adStar\u2060' }).booking;
  expect(providerName).toBe('NorthStar');
});

describe('a text field', () => {
  it.each([
    ['  BR-1042 ', 'BR-1042'],
    ['\u3000BR\u00a0', 'BR'],
    ['a\r\n\r\nb', 'a b'],
    ['a\u2028\u2029\0b', 'a b'],
    ['a \t b', 'a   b'],
    ['a\x7f\x80\x85\x9fb', 'a b'],
    ['\0BR\x1f', 'BR'],
    ['e\u0301 \u200b\u00ad\u202e', 'e\u0301'],
    ['="00123"', '00123'],
    ['=" 0""12 "', '0"12'],
    ['=""', undefined],
    ['=cmd|calc', '=cmd|calc'],
    ["'00123", '00123'],
    ["'00123'", '00123'],
    ['“BR-1”', 'BR-1'],
    [`'="5"`, '5'],
    ["'null'", undefined],
    ['"', undefined],
    ["O'Brien-7", "O'Brien-7"],
    ['\u200b00\u200d123\ufeff', '00123'],
    ['1E+11', '1E+11'],
    ['nullable', 'nullable'],
    [0, '0'],
    [-0, '0'],
    [1042, '1042'],
    [9007199254740991, '9007199254740991'],
  ])('%j becomes %j', (value, text) => {
    expect(toReference(value)).toBe(text);
  });

  it.each([
    ...[undefined, null, '', ' ', '\t\r\n', '\u00a0\u1680\u2003\u202f\u205f\u3000', '\u2028', '\0', '\ufeff'],
    ...['null', 'Null', 'none', 'None', 'undefined', 'UNDEFINED', 'nan', 'NaN', ' null ', '\0None\n'],
  ])('%j is missing', (value) => {
    expect(accept({ ServiceId: 1, BookingReferenceId: value }).booking).toEqual({ serviceId: 1 });
  });

  it.each([
    ...[true, false, [], ['BR-1'], {}, { a: 1 }, 1n, Symbol('BR'), new Date(0), Object.create(null)],
    ...[9007199254740992, -9007199254740992, 1e21, 1e300, 1e-7, Number.NaN, Number.NEGATIVE_INFINITY],
  ])('that is not a text rejects the record, case %#', (value) => {
    const optional = serviceFields.filter((field) => field !== 'ServiceId');
    for (const field of optional)
      expect(normalise({ ...complete, [field]: value })).toEqual({
        kind: 'reject',
        reason: 'field-not-text',
        field,
      });
  });
});

describe('the guest’s name', () => {
  it.each(['Null', 'None', 'none', 'NONE', 'nan', 'Nan', 'NAN', 'Undefined', 'nULL'])('may be %s', (name) => {
    expect(toName(name)).toBe(name);
    expect(toName(` ${name}\n`)).toBe(name);
  });

  it.each([
    ...['NULL', 'null', 'undefined', 'NaN', ' null ', '\0NULL'],
    ...[null, undefined, '', ' ', '\u3000'],
  ])('is missing as %j', (value) => {
    expect(accept({ ServiceId: 1, BookingClientName: value }).booking).toEqual({ serviceId: 1 });
  });
});

describe('any input', () => {
  it('never makes it throw, and what is accepted is normalised', () => {
    fc.assert(
      fc.property(anyRawBooking, (raw) => {
        const normalised = normalise(raw);
        if (normalised.kind === 'reject') return;
        const { serviceId, ...texts } = normalised.booking;
        expect(Number.isSafeInteger(serviceId) && serviceId >= 1).toBe(true);
        for (const [property, text] of Object.entries(texts)) {
          expectTidy(text);
          const words =
            property === 'bookingClientName'
              ? ['NULL', 'null', 'undefined', 'NaN'].includes(text)
              : ['null', 'none', 'undefined', 'nan'].includes(text.toLowerCase());
          expect(words).toBe(false);
        }
      }),
      { numRuns: 600 },
    );
  });

  it('is unchanged when normalised twice', () => {
    for (const dateFormat of [undefined, 'dd/MM/yyyy', 'd MMM yyyy']) {
      const again = createNormaliser({ dateFormat });
      fc.assert(
        fc.property(anyRawBooking, (raw) => {
          const first = again(raw);
          if (first.kind === 'reject') return;
          const second = again(asRaw(first.booking));
          expect(second.kind === 'booking' && second.booking).toStrictEqual(first.booking);
        }),
        { numRuns: 150 },
      );
    }
  });

  it('of any other shape is rejected', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.anything(), anyText), (value) => {
        fc.pre(value !== null && value !== undefined);
        const normalised = normalise(Object(value));
        expect(normalised).toEqual({ kind: 'reject', reason: 'service-id-missing', field: 'ServiceId' });
      }),
    );
  });
});

it.each(['as-written', 'convert', 'auto'] as const)(
  'the format of a source holds with instants %s',
  (instants) => {
    const open = openNormaliser({ dateFormat: 'dd/MM/yyyy', instants });
    const normaliseDay = open(createBusinessDay('2026-11-20', 'Europe/Madrid'), () => []);
    expect(normaliseDay({ ServiceId: 7, CheckInDate: '20/11/2026' })).toMatchObject({
      ...{ booking: { checkInDate: '2026-11-20' }, warnings: [] },
    });
  },
);
