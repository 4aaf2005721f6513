import { describe, expect, it } from 'vitest';
import type { BookedHotel, ExportRequest, RawRequest } from '../../src/service/operations.js';
import { answerWith, errorOf, headersOf, openService } from './opened-service.js';

const hotel: BookedHotel = {
  ServiceId: 101,
  BookingReferenceId: 'BR-1042',
  BookingClientName: 'Zoë Okonjo',
  ProviderName: 'Bedlink',
  ProviderHotelId: '00042',
  CheckInDate: '2026-11-20',
  CheckOutDate: '2026-11-23',
};
const success = { Status: true, Message: 'Success', StatusCode: 2000 };

describe('a review of booked hotels', () => {
  it('sends exactly the request of the specification, and returns the envelope', async () => {
    const { service, standIn } = await openService(() => answerWith({ RequestId: 'r-1' }));
    expect(await service.reviewBookedHotels([hotel, { ServiceId: 7 }])).toEqual({
      ...success,
      RequestId: 'r-1',
    });

    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(`${request?.method} ${request?.url}`).toBe('POST /api/3.0/hotels/ReviewMappingsOfBookedHotels');
    expect(request?.body.toString()).toBe(JSON.stringify({ Hotels: [hotel, { ServiceId: 7 }] }));
    const headers = headersOf(request);
    expect(headers).toContain('apikey: k-7f3a');
    expect(headers).toContain('accountId: acme');
    expect(headers).toContain('Content-Type: application/json');
  });

  it('names the master id as in this deployment', async () => {
    const { service, standIn } = await openService(undefined, { masterIdName: 'HotelCode' });
    await service.reviewBookedHotels([hotel]);
    const { ServiceId, ...others } = hotel;
    expect(standIn.accepted()).toEqual([{ HotelCode: ServiceId, ...others }]);
  });

  it.each([0, -1, 1.5, 2 ** 53, Number.NaN])('is refused for the ServiceId %d', async (ServiceId) => {
    const { service, standIn } = await openService();
    const call = service.reviewBookedHotels([hotel, { ...hotel, ServiceId }]);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow('ServiceId of hotel 1 must be');
    await expect(call).rejects.not.toThrow(/Okonjo|BR-1042/);
    expect(standIn.requests).toEqual([]);
  });
});

describe('a review by file', () => {
  it('sends exactly the request of the specification', async () => {
    const { service, standIn } = await openService();
    expect(await service.reviewBookedHotelsByFile('VerifyMappings/112026/20112026.csv')).toEqual(success);
    const [request] = standIn.requests;
    expect(`${request?.method} ${request?.url}`).toBe(
      'GET /api/3.0/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=VerifyMappings/112026/20112026.csv',
    );
    expect(headersOf(request)).toContain('apikey: k-7f3a');
    expect(headersOf(request)).toContain('accountId: acme');
  });
});

describe('the list of brands', () => {
  it('is requested as specified, and has all fields of the service', async () => {
    const HotelBrands = [
      { Id: 1, BrandCode: 'AB', BrandName: 'Àbaco', ChainId: 12, Logo: 'a.png' },
      { Id: 2, BrandCode: null, BrandName: null, ChainId: null },
      { Id: 3 },
    ];
    const { service, standIn } = await openService(() => answerWith({ HotelBrands, Count: 3 }));
    expect(await service.getMasterHotelBrands()).toEqual({ ...success, HotelBrands, Count: 3 });
    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(`${request?.method} ${request?.url}`).toBe('GET /api/3.0/content/GetMasterHotelBrands');
    expect(headersOf(request)).toContain('apikey: k-7f3a');
    expect(headersOf(request)).toContain('accountId: acme');
  });

  it.each<[string, object]>([
    ['HotelBrands', {}],
    ['HotelBrands', { HotelBrands: 'all' }],
    ['HotelBrands[1].Id', { HotelBrands: [{ Id: 1 }, { Id: 'two' }] }],
    ['HotelBrands[0].Id', { HotelBrands: [{ BrandCode: 'AB' }] }],
    ['HotelBrands[0].BrandCode', { HotelBrands: [{ Id: 1, BrandCode: 7 }] }],
    ['HotelBrands[0].BrandName', { HotelBrands: [{ Id: 1, BrandName: {} }] }],
    ['HotelBrands[0].ChainId', { HotelBrands: [{ Id: 1, ChainId: 'x' }] }],
  ])('is refused when %s does not follow the specification', async (field, fields) => {
    const { service, standIn } = await openService(() => answerWith(fields));
    const call = service.getMasterHotelBrands();
    expect(await errorOf(call)).toMatchObject({
      kind: 'invalid-answer',
      operation: 'getMasterHotelBrands',
      field,
    });
    expect(standIn.requests).toHaveLength(1);
  });
});

describe('a request for an export', () => {
  it.each<[ExportRequest, string]>([
    [{ emailId: 'ops+maps@example.com' }, 'emailId=ops%2Bmaps%40example.com'],
    [
      { emailId: 'ops@example.com', providerfamilies: ['Bedlink', 'Room & Co', 'Atlántico'] },
      'emailId=ops%40example.com&providerfamilies=Bedlink,Room%20%26%20Co,Atl%C3%A1ntico',
    ],
  ])('sends exactly the request of the specification: %j', async (request, query) => {
    const answeredAt = new Date('2026-11-20T02:30:00Z');
    const { service, standIn } = await openService(() => ({
      ...answerWith({}),
      headers: { date: answeredAt.toUTCString() },
    }));
    expect(await service.exportMappingsFile(request)).toEqual({ ...success, answeredAt });
    const [received, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(`${received?.method} ${received?.url}`).toBe(`GET /api/3.0/mappings/ExportMappingsFile?${query}`);
    expect(headersOf(received)).toContain('apikey: k-7f3a');
    expect(headersOf(received)).toContain('accountId: acme');
  });

  it.each<[string, ExportRequest, RegExp]>([
    ['a name with a comma', { emailId: 'a@b', providerfamilies: ['Bedlink', 'Room, Co'] }, /name 1 .* comma/],
    ['a blank name', { emailId: 'a@b', providerfamilies: [' '] }, /name 0 .* blank/],
    ['an empty list', { emailId: 'a@b', providerfamilies: [] }, /is empty/],
    ['no address', { emailId: ' ' }, /emailId/],
  ])('is refused with %s', async (_what, request, words) => {
    const { service, standIn } = await openService();
    const call = service.exportMappingsFile(request);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(words);
    await expect(call).rejects.not.toThrow(/Room/);
    expect(standIn.requests).toEqual([]);
  });
});

describe('a raw call', () => {
  it('is authenticated, relative to the base URL, and returns whatever the envelope has', async () => {
    const { service, standIn } = await openService(() => answerWith({ Chains: [{ Id: 1 }] }));
    const answer = await service.call({
      method: 'GET',
      path: '/content/GetSomething',
      query: { lastId: 'a/b c', empty: '' },
      headers: { syncId: 'x-1' },
    });
    expect(answer).toEqual({ ...success, Chains: [{ Id: 1 }] });
    const [request] = standIn.requests;
    expect(`${request?.method} ${request?.url}`).toBe(
      'GET /api/3.0/content/GetSomething?lastId=a/b%20c&empty=',
    );
    const headers = headersOf(request);
    expect(headers).toContain('apikey: k-7f3a');
    expect(headers).toContain('accountId: acme');
    expect(headers).toContain('syncId: x-1');
  });

  it('carries a body as JSON', async () => {
    const { service, standIn } = await openService();
    await service.call({ method: 'POST', path: '/mappings/GetSomething', body: { Ids: ['é', 1, null] } });
    await service.call({ method: 'POST', path: '/mappings/GetSomething' });
    const [withBody, without] = standIn.requests;
    expect(withBody?.method).toBe('POST');
    expect(withBody?.body.toString()).toBe('{"Ids":["é",1,null]}');
    expect(headersOf(withBody)).toContain('Content-Type: application/json');
    expect(without?.body).toHaveLength(0);
    expect(headersOf(without).join('\n')).not.toMatch(/content-type/i);
  });

  it('is judged by the envelope', async () => {
    const { service } = await openService(() => ({ kind: 'json', body: { Chains: [] } }));
    const call = service.call({ method: 'GET', path: '/content/GetSomething' });
    expect(await errorOf(call)).toMatchObject({ kind: 'invalid-answer', operation: 'call', field: 'Status' });
  });

  it('to an unknown path says what to check', async () => {
    const { service } = await openService(() => ({ kind: 'json', status: 404, body: {} }));
    const error = await errorOf(service.call({ method: 'GET', path: '/content/GetSomething' }));
    expect(error).toMatchObject({ kind: 'fatal', code: 'http-404', operation: 'call' });
    expect(error.message).toContain('check path, baseUrl');
  });

  it.each<[string, Partial<RawRequest>, RegExp]>([
    ['a path without a slash', { path: 'content/GetSomething' }, /path/],
    ['a whole address', { path: 'https://elsewhere.example.com/' }, /path/],
    ['a query in the path', { path: '/content/GetSomething?key=s3cret' }, /query/],
    ['a path that leaves the base URL', { path: '/content/../../admin' }, /dot segments/],
    ['a path with a line end', { path: '/content/Get\r\nSomething' }, /path/],
    ['the header of the key', { headers: { ApiKey: 's3cret' } }, /set by the client/],
    ['the header of the account', { headers: { ACCOUNTID: 's3cret' } }, /set by the client/],
    ['a header of the connection', { headers: { 'Transfer-Encoding': 'chunked' } }, /set by the client/],
    ['an invalid header name', { headers: { 's3cret: x': 'y' } }, /invalid name/],
    ['a header that would start another one', { headers: { syncId: 's3cret\r\nHost: y' } }, /syncId/],
    ['a GET with a body', { body: { key: 's3cret' } }, /GET has no body/],
    ['a body that is not JSON', { method: 'POST', body: () => 's3cret' }, /JSON/],
    ['another method', { method: 'DELETE' as 'GET' }, /method/],
  ])('is refused with %s', async (_what, wrong, words) => {
    const { service, standIn } = await openService();
    const call = service.call({ method: 'GET', path: '/content/GetSomething', ...wrong });
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(words);
    await expect(call).rejects.not.toThrow(/s3cret/);
    expect(standIn.requests).toEqual([]);
  });
});
