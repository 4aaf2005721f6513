import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/sandbox/common/errors.js';
import { findMediaProblem, parseReview } from '../../src/sandbox/service/operations.js';

/** The hotels of a body, or why it is refused. */
function readBody(body: Uint8Array) {
  try {
    return { kind: 'hotels', hotels: parseReview(body) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refusal', statusCode: error.statusCode, message: error.message };
  }
}

describe("A body's media type", () => {
  it.each([
    ['application/json'],
    ['Application/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
  ])('%s is read', (type) => {
    expect(findMediaProblem({ 'content-type': type })).toBeUndefined();
  });

  it.each([
    ['text/json'],
    ['text/plain'],
    ['application/jsonp'],
    ['application/json, text/plain'],
    ['application/json; charset=latin1'],
    ['application/x-www-form-urlencoded'],
  ])('%s is not', (type) => {
    expect(findMediaProblem({ 'content-type': type })).toBe('The Content-Type is not application/json.');
  });

  it('is required, and the body must not be compressed', () => {
    expect(findMediaProblem({})).toContain('Content-Type is missing');
    expect(findMediaProblem({ 'content-type': 'application/json', 'content-encoding': 'gzip' })).toContain(
      'Content-Encoding',
    );
  });
});

describe('The body of a review', () => {
  const whole = {
    ServiceId: 1042,
    BookingReferenceId: 'BR-1',
    BookingClientName: 'Ana Núñez',
    ProviderName: 'Room & Co',
    ProviderHotelId: '000123',
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-22',
  };
  const read = (review: unknown) => readBody(Buffer.from(JSON.stringify(review)));
  const readItem = (item: unknown) => read({ Hotels: [whole, item] });

  it('is accepted with all fields or only the master id', () => {
    expect(read({ Hotels: [whole, { ServiceId: 9007199254740991 }] })).toEqual({
      kind: 'hotels',
      hotels: [
        {
          serviceId: 1042,
          bookingReferenceId: 'BR-1',
          bookingClientName: 'Ana Núñez',
          providerName: 'Room & Co',
          providerHotelId: '000123',
          checkInDate: '2026-11-20',
          checkOutDate: '2026-11-22',
        },
        { serviceId: 9007199254740991 },
      ],
    });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['an incomplete body', Buffer.from('{"Hotels":[{"ServiceId":1}')],
    ['NaN', Buffer.from('{"Hotels":[{"ServiceId":NaN}]}')],
    [
      'bytes that are not UTF-8',
      Buffer.from('{"Hotels":[{"ServiceId":1,"BookingClientName":"Nú"}]}', 'latin1'),
    ],
  ])('is refused with 2002 when it is %s', (_what, body) => {
    expect(readBody(body)).toEqual({
      kind: 'refusal',
      statusCode: 2002,
      message: 'The body is not JSON in UTF-8.',
    });
  });

  it.each([
    [null, 2002, 'The body: expected an object'],
    [[whole], 2002, 'The body: expected an object'],
    ['Hotels', 2002, 'The body: expected an object'],
    [{ hotels: [whole] }, 2002, '"hotels" is not a field of the body: expected only Hotels.'],
    [{ Hotels: [whole], Extra: 1 }, 2002, '"Extra" is not a field of the body: expected only Hotels.'],
    [JSON.parse('{"Hotels":[],"__proto__":1}'), 2002, '"__proto__" is not a field of the body'],
    [{}, 2021, 'Hotels is missing'],
    [{ Hotels: [] }, 2021, 'Hotels is empty'],
    [{ Hotels: null }, 2002, 'Hotels: expected an array.'],
    [{ Hotels: { 0: whole } }, 2002, 'Hotels: expected an array.'],
    [{ ['x'.repeat(500)]: 1 }, 2002, `"${'x'.repeat(60)}" is not a field`],
  ])('is refused as a whole: %j', (review, statusCode, message) => {
    expect(read(review)).toEqual({
      kind: 'refusal',
      statusCode,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    [null, 'Hotels[1]: expected an object.'],
    [7, 'Hotels[1]: expected an object.'],
    [[whole], 'Hotels[1]: expected an object.'],
    [{ ...whole, ServiceId: undefined }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: null }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: '1042' }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: 0 }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: -5 }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: 1.5 }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: 2 ** 53 }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, ServiceId: true }, 'Hotels[1].ServiceId: expected a JSON integer'],
    [{ ...whole, Rooms: '2' }, 'Hotels[1] has an unknown field "Rooms": expected only ServiceId, Booking'],
    [{ ...whole, checkInDate: '2026-11-20' }, 'Hotels[1] has an unknown field "checkInDate"'],
    [{ serviceId: 1042 }, 'Hotels[1] has an unknown field "serviceId"'],
    [{ ...whole, ProviderHotelId: 123 }, 'Hotels[1].ProviderHotelId: expected a text that is not blank'],
    [{ ...whole, ProviderName: null }, 'Hotels[1].ProviderName: expected a text that is not blank'],
    [{ ...whole, BookingReferenceId: '' }, 'Hotels[1].BookingReferenceId: expected a text'],
    [{ ...whole, BookingClientName: ' \t ' }, 'Hotels[1].BookingClientName: expected a text'],
    [{ ...whole, CheckInDate: '20112026' }, 'Hotels[1].CheckInDate: expected a calendar day as YYYY-MM-DD.'],
    [{ ...whole, CheckInDate: '2026-02-30' }, 'Hotels[1].CheckInDate: expected a calendar day'],
    [{ ...whole, CheckOutDate: '2026-11-20T00:00:00Z' }, 'Hotels[1].CheckOutDate: expected a calendar day'],
    [{ ...whole, CheckOutDate: ' 2026-11-20' }, 'Hotels[1].CheckOutDate: expected a calendar day'],
  ])('is refused with 2009 for an item %j', (item, message) => {
    expect(readItem(item)).toEqual({
      kind: 'refusal',
      statusCode: 2009,
      message: expect.stringContaining(message),
    });
  });

  it('may have a check-out on or before the check-in, a guest called Null, and any Unicode', () => {
    const item = { ...whole, CheckOutDate: '2026-11-19', BookingClientName: 'Null', ProviderName: '東京 🏨' };
    expect(readItem(item)).toMatchObject({ kind: 'hotels' });
  });

  it('is never quoted in the refusal', () => {
    const refusals = [
      readItem({ ...whole, BookingClientName: ['Ana Núñez'] }),
      readItem({ ...whole, CheckInDate: 'Ana Núñez' }),
      readItem({ ...whole, ServiceId: 'Ana Núñez' }),
      readItem('Ana Núñez'),
      readBody(Buffer.from('{"Hotels":[{"BookingClientName":"Ana Núñez"')),
    ];
    expect(refusals.map(({ kind }) => kind)).toEqual(refusals.map(() => 'refusal'));
    expect(JSON.stringify(refusals)).not.toContain('Ana');
  });
});
