import { describe, expect, it } from 'vitest';
import type { MappingService, MappingsQuery } from '../../src/service/operations.js';
import type { ArrivingRequest, StandIn } from '../support/http-stand-in.js';
import { answerWith, errorOf, headersOf, openService } from './opened-service.js';

const query: MappingsQuery = {
  lastUpdateDateTime: new Date('2026-11-20T00:00:00Z'),
  syncId: 'cycle-1',
  limit: 2,
};
const row = (number: number) => ({
  ServiceId: number,
  ProviderHotelId: `h-${number}`,
  ProviderName: 'Bedlink',
});

async function readIds(service: MappingService, from: MappingsQuery = query): Promise<(number | null)[][]> {
  const pages: (number | null)[][] = [];
  for await (const { Mappings } of service.eachMappingsPage(from)) {
    pages.push(Mappings.map(({ ServiceId }) => ServiceId));
  }
  return pages;
}

const keyOf = ({ url }: Pick<ArrivingRequest, 'url'>) =>
  new URL(url, 'http://x').searchParams.get('resumeKey');
const keysOf = (standIn: StandIn) => standIn.requests.map(keyOf);

describe('all pages of mappings', () => {
  it.each([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', ' \t'],
  ])('come one at a time, until the key is %s', async (_what, last) => {
    let inFlight = 0;
    let mostInFlight = 0;
    const { service, standIn } = await openService(async (request) => {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      await request.readBody();
      const number = Number(keyOf(request) ?? 0);
      inFlight -= 1;
      return answerWith({
        ResumeKey: number < 3 ? String(number + 1) : last,
        Mappings: [row(2 * number + 1), row(2 * number + 2)],
      });
    });
    expect(await readIds(service)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
    ]);
    expect(keysOf(standIn)).toEqual([null, '1', '2', '3']);
    expect(mostInFlight).toBe(1);
    for (const request of standIn.requests) {
      expect(headersOf(request)).toContain('syncId: cycle-1');
      expect(new URL(request.url, 'http://x').searchParams.get('limit')).toBe('2');
    }
  });

  it('continue from a key', async () => {
    const { service, standIn } = await openService(() => answerWith({ Mappings: [row(9)] }));
    expect(await readIds(service, { ...query, resumeKey: 'key-7' })).toEqual([[9]]);
    expect(keysOf(standIn)).toEqual(['key-7']);
  });

  it('may share a key as long as they differ', async () => {
    const { service } = await openService((_request, number) =>
      answerWith({ ResumeKey: number < 4 ? 'cursor' : null, Mappings: [row(number)] }),
    );
    expect(await readIds(service)).toEqual([[1], [2], [3], [4]]);
  });

  it('may be empty before the last one where only a page without a key is the last', async () => {
    const { service } = await openService(
      (_request, number) =>
        answerWith({
          ResumeKey: number < 3 ? `key-${number}` : null,
          Mappings: number === 3 ? [row(3)] : [],
        }),
      { lastPage: 'null-key' },
    );
    expect(await readIds(service)).toEqual([[], [], [3]]);
  });

  it.each(['either', 'empty-page'] as const)(
    'end at an empty page even if it has a fresh key: %s',
    async (lastPage) => {
      const { service, standIn } = await openService(
        (_request, number) =>
          answerWith({ ResumeKey: `key-${number}`, Mappings: number < 3 ? [row(number)] : [] }),
        { lastPage },
      );
      expect(await readIds(service)).toEqual([[1], [2], []]);
      expect(keysOf(standIn)).toEqual([null, 'key-1', 'key-2']);
    },
  );

  it('end at a page that is empty but for skipped mappings only where it has no key', async () => {
    const { service } = await openService((_request, number) =>
      answerWith({ ResumeKey: number < 2 ? 'key-1' : null, Mappings: [{ ...row(1), ProviderName: null }] }),
    );
    expect(await readIds(service)).toEqual([[], []]);
  });

  it('end with an error at a page without a key where an empty page must come', async () => {
    const { service } = await openService(() => answerWith({ Mappings: [row(1)] }), {
      lastPage: 'empty-page',
    });
    expect(await errorOf(readIds(service))).toMatchObject({ kind: 'invalid-answer', field: 'ResumeKey' });
  });

  it.each<[string, (number: number) => object]>([
    ['are empty', (number) => ({ ResumeKey: `key-${number}`, Mappings: number === 1 ? [row(1)] : [] })],
    [
      'repeat each other by turns',
      (number) => ({ ResumeKey: `key-${number}`, Mappings: [row(number === 1 ? 1 : number % 2)] }),
    ],
  ])('end with an error after several pages in a row that %s', async (_what, pageOf) => {
    const { service, standIn } = await openService((_request, number) => answerWith(pageOf(number)), {
      ...{ lastPage: 'null-key', maxPagesWithoutNews: 4 },
    });
    const error = await errorOf(readIds(service));
    expect(error).toMatchObject({ kind: 'invalid-answer', field: 'ResumeKey', operation: 'getMappings' });
    expect(error.message).toContain('4 pages in a row with a ResumeKey and nothing new');
    expect(standIn.requests.length).toBeLessThanOrEqual(6);
  });

  it('end with an error when the same page comes with the same key again', async () => {
    const { service, standIn } = await openService(() =>
      answerWith({ ResumeKey: 'stuck', Mappings: [row(1)] }),
    );
    const pages: number[] = [];
    const read = async () => {
      for await (const { Mappings } of service.eachMappingsPage(query)) pages.push(Mappings.length);
    };
    const error = await errorOf(read());
    expect(error).toMatchObject({ kind: 'invalid-answer', field: 'ResumeKey', operation: 'getMappings' });
    expect(error.message).not.toContain('stuck');
    expect(keysOf(standIn)).toEqual([null, 'stuck']);
    expect(pages).toEqual([1]);
  });

  it('are requested only when the consumer asks for them', async () => {
    const { service, standIn } = await openService((_request, number) =>
      answerWith({ ResumeKey: `key-${number}`, Mappings: [row(number)] }),
    );
    for await (const { Mappings } of service.eachMappingsPage(query)) {
      expect(standIn.requests).toHaveLength(Mappings[0]?.ServiceId ?? 0);
      if (Mappings[0]?.ServiceId === 2) break;
    }
    expect(standIn.requests).toHaveLength(2);
  });

  it('retry only the page that failed', async () => {
    const { service, standIn } = await openService((request, number) => {
      if (number === 2) return { kind: 'json', status: 503, body: {} };
      if (number === 4) return { kind: 'drop', when: 'after-reading' };
      const page = Number(keyOf(request) ?? 0);
      return answerWith({ ResumeKey: page < 2 ? String(page + 1) : null, Mappings: [row(page + 1)] });
    });
    expect(await readIds(service)).toEqual([[1], [2], [3]]);
    expect(keysOf(standIn)).toEqual([null, '1', '1', '2', '2']);
  });

  it.each([200, 400, 404, 503])(
    'end with the code of a key that has expired, under HTTP %i',
    async (status) => {
      const { service } = await openService((_request, number) =>
        number === 1
          ? answerWith({ ResumeKey: 'key-1', Mappings: [row(1)] })
          : { kind: 'json', status, body: { Status: false, Message: 'expired', StatusCode: 2027 } },
      );
      const pages: number[] = [];
      const read = async () => {
        for await (const { Mappings } of service.eachMappingsPage(query)) pages.push(Mappings.length);
      };
      expect(await errorOf(read())).toMatchObject({
        statusCode: 2027,
        httpStatus: status,
        answer: 'expired',
      });
      expect(pages).toEqual([1]);
    },
  );

  it('end with the reason of an abort, even between two pages', async () => {
    const { service, standIn } = await openService((_request, number) =>
      answerWith({ ResumeKey: `key-${number}`, Mappings: [row(number)] }),
    );
    const stop = new AbortController();
    const reason = new Error('Ctrl-C');
    const read = async () => {
      for await (const _page of service.eachMappingsPage(query, { signal: stop.signal })) stop.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    expect(standIn.requests).toHaveLength(1);
  });
});
