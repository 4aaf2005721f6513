import { describe, expect, it } from 'vitest';
import type { ExportRequest } from '../../src/service/operations.js';
import { answerWith, errorOf, headersOf, openService } from './opened-service.js';

describe('the list of brands', () => {
  it('is requested as specified, and has all fields of the service', async () => {
    const HotelBrands = [
      { Id: 1, BrandCode: 'AB', BrandName: 'Àbaco', ChainId: 12, Logo: 'a.png' },
      { Id: 2, BrandCode: null, BrandName: null, ChainId: null },
      { Id: 3, Note: 'x'.repeat(1_000_000) },
    ];
    const { service, standIn } = await openService(() => answerWith({ HotelBrands, Count: 3 }));
    expect(await service.getMasterHotelBrands()).toEqual(HotelBrands);
    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(`${request?.method} ${request?.url}`).toBe('GET /api/3.0/content/GetMasterHotelBrands');
    expect(headersOf(request)).toContain('apikey: k-7f3a');
    expect(headersOf(request)).toContain('accountId: acme');
  });

  it.each<[string, object]>([
    ['HotelBrands', {}],
    ['HotelBrands[1].Id', { HotelBrands: [{ Id: 1 }, { Id: 'two' }] }],
    ['HotelBrands[0].BrandCode', { HotelBrands: [{ Id: 1, BrandCode: 7 }] }],
    ['HotelBrands[1]', { HotelBrands: [{ Id: 1 }, null] }],
    ['HotelBrands[0].BrandName', { HotelBrands: [{ Id: 1, BrandName: 7 }] }],
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
    [{ emailId: 'ops+maps@example.com', providers: [] }, 'emailId=ops%2Bmaps%40example.com'],
    [
      { emailId: 'ops@example.com', providers: ['Bedlink', 'Room & Co', 'Atlántico'] },
      'emailId=ops%40example.com&providerfamilies=Bedlink,Room%20%26%20Co,Atl%C3%A1ntico',
    ],
  ])('sends exactly the request of the specification: %j', async (request, query) => {
    const answeredAt = new Date('2026-11-20T02:30:00Z');
    const { service, standIn } = await openService(() => ({
      ...answerWith({}),
      headers: { date: answeredAt.toUTCString() },
    }));
    expect(await service.exportMappingsFile(request)).toEqual({ answeredAt });
    const [received, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(`${received?.method} ${received?.url}`).toBe(`GET /api/3.0/mappings/ExportMappingsFile?${query}`);
    expect(headersOf(received)).toContain('apikey: k-7f3a');
    expect(headersOf(received)).toContain('accountId: acme');
  });
});
