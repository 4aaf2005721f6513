import { describe, expect, it } from 'vitest';
import { answerWith, errorOf, headersOf, openService } from './opened-service.js';

const query = { lastUpdateDateTime: new Date('2026-11-20T00:00:00Z'), syncId: 'cycle-1' };
const mapping = { ServiceId: 101, ProviderHotelId: '00042', ProviderName: 'Bedlink' };

describe('a call of Get Mappings', () => {
  it('sends exactly the request of the specification', async () => {
    const { service, standIn } = await openService(() => answerWith({ Mappings: [] }));
    await service.getMappings({ ...query, providerFamily: 'Bedlink', resumeKey: 'key-1', limit: 1000 });

    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(request?.method).toBe('GET');
    expect(request?.body).toEqual(Buffer.alloc(0));
    expect(request?.url).toBe(
      '/api/3.0/mappings?lastUpdateDateTime=2026-11-20T00%3A00%3A00.000Z&providerFamily=Bedlink&resumeKey=key-1&limit=1000',
    );
    const headers = headersOf(request);
    expect(headers).toContain('apikey: k-7f3a');
    expect(headers).toContain('accountId: acme');
    expect(headers).toContain('syncId: cycle-1');
    expect(headers.join('\n')).not.toMatch(/content-type|content-length/i);
  });

  it.each(['a b&c=d#e?f+g', '100%/%2F', 'żółć 山田 😀', 'half \ud83d'])(
    'carries any text intact: %j',
    async (text) => {
      const { service, standIn } = await openService(() => answerWith({ Mappings: [] }));
      await service.getMappings({ ...query, providerFamily: text, resumeKey: text });
      const { searchParams } = new URL(standIn.requests[0]?.url ?? '', standIn.baseUrl);
      expect(searchParams.get('providerFamily')).toBe(text.toWellFormed());
      expect(searchParams.get('resumeKey')).toBe(text.toWellFormed());
    },
  );

  it('is refused with a sync id that would begin another header', async () => {
    const { service, standIn } = await openService();
    await expect(service.getMappings({ ...query, syncId: 'x\r\nHost: y' })).rejects.toThrow(/syncId/);
    expect(standIn.requests).toEqual([]);
  });
});

describe('a page of mappings', () => {
  it('has all fields of the service, known or not, and its time', async () => {
    const { service } = await openService(() => ({
      ...answerWith({
        ResumeKey: '7b1c',
        Total: 1,
        Mappings: [
          {
            ...mapping,
            ProviderLocationCode: 'MAD',
            Type: 'New',
            ChannelIds: ['Web,Package', 'Web, Member, Flex ', 'Direct', ',', ''],
            Confidence: { score: 0.5 },
          },
        ],
      }),
      headers: { date: 'Fri, 20 Nov 2026 02:30:00 GMT' },
    }));
    expect(await service.getMappings(query)).toEqual({
      ResumeKey: '7b1c',
      Mappings: [
        {
          ...mapping,
          ProviderLocationCode: 'MAD',
          Type: 'New',
          ChannelIds: ['Web,Package', 'Web, Member, Flex ', 'Direct', ',', ''],
          Confidence: { score: 0.5 },
        },
      ],
      skipped: [],
      answeredAt: new Date('2026-11-20T02:30:00Z'),
    });
  });

  it('may lack optional fields or have null in them', async () => {
    const nothing = { ProviderLocationCode: null, Type: null, ChannelIds: null };
    const { service } = await openService(() =>
      answerWith({ Message: null, ResumeKey: null, Mappings: [mapping, { ...mapping, ...nothing }] }),
    );
    const { Mappings, ResumeKey } = await service.getMappings(query);
    expect(ResumeKey).toBeNull();
    expect(Mappings).toEqual([mapping, { ...mapping, ...nothing }]);
  });

  it('is empty where the list is null', async () => {
    const { service } = await openService(() => answerWith({ Mappings: null }));
    expect((await service.getMappings(query)).Mappings).toEqual([]);
  });

  it('keeps provider ids as text', async () => {
    const ids = ['007', '1e3', '12345678901234567890', ' 4', 'AB-1', '0x1F', ''];
    const { service } = await openService(() =>
      answerWith({ Mappings: ids.map((ProviderHotelId) => ({ ...mapping, ProviderHotelId })) }),
    );
    const { Mappings } = await service.getMappings(query);
    expect(Mappings.map(({ ProviderHotelId }) => ProviderHotelId)).toEqual(ids);
  });

  it('has the master id as ServiceId, whatever its name in this deployment', async () => {
    const { service } = await openService(
      () => answerWith({ Mappings: [{ HotelCode: 7, ProviderHotelId: '1', ProviderName: 'Bedlink' }] }),
      { masterIdName: 'HotelCode' },
    );
    const { Mappings } = await service.getMappings(query);
    expect(Mappings).toEqual([{ ServiceId: 7, ProviderHotelId: '1', ProviderName: 'Bedlink' }]);
  });

  it.each([10, 1_000])(
    'has at most 1 MB and 2 kB for each of the %i mappings that were asked for',
    async (limit) => {
      const most = 1_000_000 + 2_000 * limit;
      const empty = JSON.stringify(answerWith({ Mappings: [], Note: '' }).body).length;
      let Note = 'x'.repeat(most - empty);
      const { service, standIn } = await openService(() => answerWith({ Mappings: [], Note }));
      const asking = { ...query, limit };
      expect(await service.getMappings(asking)).toMatchObject({ Mappings: [] });
      Note += 'x';
      await expect(service.getMappings(asking)).rejects.toMatchObject({
        kind: 'invalid-answer',
        code: 'answer-too-large',
      });
      // The same answer would be as large again.
      expect(standIn.requests).toHaveLength(2);
    },
  );
});

describe('an answer that does not follow the specification', () => {
  it.each<[field: string, expected: string, fields: object]>([
    ['Status', 'a boolean, got: a string', { Status: 'yes' }],
    ['StatusCode', 'an integer, got: another number', { StatusCode: 2000.5 }],
    ['ResumeKey', 'a string, got: a number', { ResumeKey: 5, Mappings: [] }],
    ['Mappings', 'an array, got: nothing', {}],
    ['Mappings', 'an array, got: an object', { Mappings: { 0: mapping } }],
  ])('is an error that names the field: %s, expected %s', async (field, expected, fields) => {
    const { service, standIn } = await openService(() => answerWith(fields));
    const error = await errorOf(service.getMappings(query));
    expect(error).toMatchObject({
      kind: 'invalid-answer',
      code: 'invalid-answer',
      operation: 'getMappings',
      field,
    });
    expect(error.message).toContain(`expected ${field} to be ${expected}.`);
    expect(error.httpStatus).toBe(200);
    expect(standIn.requests).toHaveLength(1);
  });

  it.each([['null'], ['[]'], ['{"Mappings":[]}']])('lacks the envelope: %s', async (json) => {
    const { service, standIn } = await openService(() => ({ kind: 'text', body: json }));
    const error = await errorOf(service.getMappings(query));
    expect(error).toMatchObject({ kind: 'invalid-answer', field: 'Status' });
    expect(standIn.requests).toHaveLength(1);
  });

  it('is a page of which more than a tenth of the mappings, and more than five, cannot be read', async () => {
    const odd = (count: number) => Array(count).fill({ ...mapping, ProviderName: null });
    const { service } = await openService((_request, number) =>
      answerWith({ Mappings: [...Array(60 - 5 - number).fill(mapping), ...odd(5 + number)] }),
    );
    expect((await service.getMappings(query)).skipped).toHaveLength(6);
    const error = await errorOf(service.getMappings(query));
    expect(error).toMatchObject({ kind: 'invalid-answer', field: 'Mappings[53].ProviderName' });
    expect(error.message).toContain('7 of the 60 mappings of a page cannot be read: expected Mappings[53].');
  });

  it('names the master id as in this deployment', async () => {
    const { service } = await openService(() => answerWith({ Mappings: Array(6).fill(mapping) }), {
      masterIdName: 'HotelCode',
    });
    expect(await errorOf(service.getMappings(query))).toMatchObject({ field: 'Mappings[0].HotelCode' });
  });
});

describe('a mapping that cannot be read', () => {
  const third = (wrong: object) => ({ Mappings: [mapping, mapping, mapping, { ...mapping, ...wrong }] });
  const without = (name: string) => third({ [name]: undefined });
  const masterId = 'an integer from 1 to 2^53-1';

  it.each<[field: string, expected: string, fields: { readonly Mappings: readonly unknown[] }]>([
    ['Mappings[1]', 'an object, got: a string', { Mappings: [mapping, 'secret-row'] }],
    ['Mappings[3].ServiceId', `${masterId}, got: nothing`, without('ServiceId')],
    ['Mappings[3].ServiceId', `${masterId}, got: a string`, third({ ServiceId: '1 01' })],
    ['Mappings[3].ServiceId', `${masterId}, got: null`, third({ ServiceId: null, Type: 'New' })],
    ['Mappings[3].ServiceId', `${masterId}, got: another number`, third({ ServiceId: 0, Type: 'New' })],
    ['Mappings[3].ServiceId', `${masterId}, got: another number`, third({ ServiceId: 2 ** 53 })],
    ['Mappings[3].ProviderHotelId', 'a string, got: a number', third({ ProviderHotelId: 4711 })],
    ['Mappings[3].ProviderName', 'a string, got: nothing', without('ProviderName')],
    ['Mappings[3].ProviderLocationCode', 'a string, got: a number', third({ ProviderLocationCode: 1.5 })],
    ['Mappings[3].Type', 'a string, got: a boolean', third({ Type: true })],
    ['Mappings[3].ChannelIds[1]', 'a string, got: a number', third({ ChannelIds: ['Web', 5] })],
  ])(
    'is skipped with the reason, and the others are kept: %s, expected %s',
    async (field, expected, fields) => {
      const { service } = await openService(() => answerWith(fields));
      const { Mappings, skipped } = await service.getMappings(query);
      const index = Number(/\d+/.exec(field));
      expect(skipped).toEqual([
        {
          reason: `expected ${field} to be ${expected}`,
          record: JSON.parse(JSON.stringify(fields.Mappings[index])),
        },
      ]);
      expect(skipped[0]?.reason).not.toMatch(/4711|secret-row/);
      expect(Mappings).toEqual(Array(fields.Mappings.length - 1).fill({ ...mapping }));
    },
  );
});

describe('what is unambiguous', () => {
  it.each<[string, object, object]>([
    ['a master id written as text', { ServiceId: ' 0101 ' }, { ServiceId: 101 }],
    ['no master id in a deletion', { ServiceId: null, Type: 'Delete' }, { ServiceId: null, Type: 'Delete' }],
    ['an absent one', { ServiceId: undefined, Type: 'deleted' }, { ServiceId: null, Type: 'deleted' }],
    ['a blank one', { ServiceId: '', Type: 'DELETE ' }, { ServiceId: null, Type: 'DELETE ' }],
    ['the master id 0 in a deletion', { ServiceId: 0, Type: 'Delete' }, { ServiceId: null, Type: 'Delete' }],
    ['a location written as a number', { ProviderLocationCode: 42 }, { ProviderLocationCode: '42' }],
    ['a single channel', { ChannelIds: 'Web,Net' }, { ChannelIds: ['Web,Net'] }],
    ['a null among the channels', { ChannelIds: [null, 'Web'] }, { ChannelIds: ['Web'] }],
  ])('is read: %s', async (_what, given, read) => {
    const { service } = await openService(() => answerWith({ Mappings: [{ ...mapping, ...given }] }));
    const { Mappings, skipped } = await service.getMappings(query);
    expect(skipped).toEqual([]);
    expect(Mappings).toEqual([{ ...mapping, ...read }]);
  });

  it('may have an envelope written as text', async () => {
    const { service } = await openService(() => ({
      kind: 'json',
      body: { Status: 'True', Message: 5, StatusCode: '2000', Mappings: [] },
    }));
    expect(await service.getMappings(query)).toMatchObject({ Mappings: [] });
  });
});
