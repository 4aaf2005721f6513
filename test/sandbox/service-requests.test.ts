import { describe, expect, it } from 'vitest';
import { findMediaProblem, parseReview } from '../../src/sandbox/service/review-body.js';
import { findAccountProblem, routeRequest } from '../../src/sandbox/service/route.js';
import { renderAnswer } from '../../src/sandbox/service/send-answer.js';

const byBody = '/api/3.0/hotels/ReviewMappingsOfBookedHotels';
const byFile = '/api/3.0/hotels/ReviewMappingsOfBookedHotelsByFile';

const mappings = '/api/3.0/mappings';
const brands = '/api/3.0/content/GetMasterHotelBrands';
const exported = '/api/3.0/mappings/ExportMappingsFile';

const meant = (operation: string, parameters: Readonly<Record<string, string>> = {}) => ({
  kind: 'operation',
  operation,
  parameters,
});

describe('A request target', () => {
  it.each([
    ['POST', byBody, meant('by-body')],
    ['POST', `${byBody}?trace=1`, meant('by-body', { trace: '1' })],
    ['GET', `${byFile}?ftpFilePath=a/b.csv`, meant('by-file', { ftpFilePath: 'a/b.csv' })],
    ['GET', `${byFile}?ftpFilePath=a%2Fb%20c.csv`, meant('by-file', { ftpFilePath: 'a/b c.csv' })],
    ['GET', `${byFile}?x=1&ftpFilePath=a.csv?y`, meant('by-file', { x: '1', ftpFilePath: 'a.csv?y' })],
    ['GET', byFile, meant('by-file')],
    ['GET', `${byFile}?ftpFilePath=`, meant('by-file', { ftpFilePath: '' })],
    ['GET', `${byFile}?ftpfilepath=a.csv`, meant('by-file', { ftpfilepath: 'a.csv' })],
    ['GET', `${mappings}?limit=10`, meant('mappings', { limit: '10' })],
    ['GET', brands, meant('brands')],
    ['GET', `${exported}?emailId=a%40b.example`, meant('export', { emailId: 'a@b.example' })],
    ['POST', mappings, { kind: 'wrong-method', allowed: 'GET' }],
    ['POST', brands, { kind: 'wrong-method', allowed: 'GET' }],
    ['POST', exported, { kind: 'wrong-method', allowed: 'GET' }],
    ['GET', `${mappings}/`, { kind: 'unknown-path' }],
    ['GET', '/api/3.0/content/GetMasterHotelChains', { kind: 'unknown-path' }],
    ['GET', byBody, { kind: 'wrong-method', allowed: 'POST' }],
    ['PUT', byBody, { kind: 'wrong-method', allowed: 'POST' }],
    ['POST', byFile, { kind: 'wrong-method', allowed: 'GET' }],
    ['HEAD', byFile, { kind: 'wrong-method', allowed: 'GET' }],
    ['POST', '/api/3.0/hotels/reviewmappingsofbookedhotels', { kind: 'unknown-path' }],
    ['POST', `${byBody}/`, { kind: 'unknown-path' }],
    ['POST', `/${byBody}`, { kind: 'unknown-path' }],
    ['POST', '/hotels/ReviewMappingsOfBookedHotels', { kind: 'unknown-path' }],
    ['POST', '/api/3.0/hotels/%52eviewMappingsOfBookedHotels', { kind: 'unknown-path' }],
    ['GET', '/', { kind: 'unknown-path' }],
    ['OPTIONS', '*', { kind: 'unknown-path' }],
  ])('%s %s is %o', (method, target, route) => {
    const read = routeRequest(method, target);
    expect(
      read.kind === 'operation' ? { ...read, parameters: Object.fromEntries(read.parameters) } : read,
    ).toEqual(route);
  });
});

describe("The account's headers", () => {
  const account = { apiKey: 'key-1', accountId: 'account-1' };
  const unknown = 'The headers apikey and accountId do not name an account.';

  it.each([
    [{ apikey: 'key-1', accountid: 'account-1' }, undefined],
    [{ accountid: 'account-1' }, 'The header apikey is missing.'],
    [{ apikey: '', accountid: 'account-1' }, 'The header apikey is missing.'],
    [{ apikey: 'key-1' }, 'The header accountId is missing.'],
    [{ apikey: 'key-2', accountid: 'account-1' }, unknown],
    [{ apikey: 'key-1', accountid: 'account-2' }, unknown],
    [{ apikey: 'key-12', accountid: 'account-1' }, unknown],
    [{ apikey: 'KEY-1', accountid: 'account-1' }, unknown],
    [{ apikey: 'account-1', accountid: 'key-1' }, unknown],
  ])('%o: %s', (headers, objection) => {
    expect(findAccountProblem(headers, account)).toBe(objection);
  });
});

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
  const read = (review: unknown, masterIdName = 'ServiceId') =>
    parseReview(Buffer.from(JSON.stringify(review)), masterIdName);
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

  it('must use the configured name for the master id', () => {
    expect(read({ Hotels: [{ HotelId: 7 }] }, 'HotelId')).toEqual({
      kind: 'hotels',
      hotels: [{ serviceId: 7 }],
    });
    expect(read({ Hotels: [{ ServiceId: 7 }] }, 'HotelId')).toEqual({
      kind: 'refusal',
      statusCode: 2009,
      message: expect.stringContaining('Hotels[0] has an unknown field "ServiceId": expected only HotelId, '),
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
    expect(parseReview(body, 'ServiceId')).toEqual({
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
      parseReview(Buffer.from('{"Hotels":[{"BookingClientName":"Ana Núñez"'), 'ServiceId'),
    ];
    expect(refusals.map(({ kind }) => kind)).toEqual(refusals.map(() => 'refusal'));
    expect(JSON.stringify(refusals)).not.toContain('Ana');
  });
});

describe('An answer', () => {
  const render = (...input: Parameters<typeof renderAnswer>) => {
    const { body, ...rest } = renderAnswer(...input);
    return { ...rest, body: body.toString() };
  };
  const json = (body: string) => ({
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  });

  it.each(['envelope', 'code-message'] as const)('for success is the envelope in the shape %s', (shape) => {
    const body = '{"Status":true,"Message":"Taken","StatusCode":2000}';
    expect(render({ kind: 'success', message: 'Taken' }, shape)).toEqual({
      httpStatus: 200,
      statusCode: 2000,
      headers: json(body),
      body,
    });
  });

  it.each([
    ['envelope', '{"Status":false,"Message":"Nú","StatusCode":2009}'],
    ['code-message', '{"code":2009,"message":"Nú"}'],
  ] as const)('of refusal is inside a 200 in the shape %s', (shape, body) => {
    expect(render({ kind: 'refusal', statusCode: 2009, message: 'Nú' }, shape)).toEqual({
      httpStatus: 200,
      statusCode: 2009,
      headers: json(body),
      body,
    });
  });

  it.each([
    [400, 2002],
    [401, 2003],
    [403, 2003],
    [404, 2002],
    [415, 2002],
    [429, 2030],
    [500, 2001],
    [503, 2001],
  ])('with the HTTP status %d carries the StatusCode %d in either shape', (httpStatus, statusCode) => {
    const error = { kind: 'error', httpStatus, message: 'No', headers: { 'Retry-After': '2' } } as const;
    const envelope = `{"Status":false,"Message":"No","StatusCode":${statusCode}}`;
    const codeMessage = `{"code":${statusCode},"message":"No"}`;
    expect(render(error, 'envelope')).toEqual({
      ...{ httpStatus, statusCode, body: envelope },
      headers: { ...json(envelope), 'Retry-After': '2' },
    });
    expect(render(error, 'code-message')).toEqual({
      ...{ httpStatus, statusCode, body: codeMessage },
      headers: { ...json(codeMessage), 'Retry-After': '2' },
    });
  });

  it('can be an HTML page', () => {
    const { headers, body, ...numbers } = render({ kind: 'page' }, 'envelope');
    expect(numbers).toEqual({ httpStatus: 200 });
    expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('<html>');
  });
});
