import { describe, expect, it, onTestFinished } from 'vitest';
import type { SyncEvent } from '../../src/mappings/events.js';
import { syncMappings } from '../../src/mappings/sync-mappings.js';
import { MappingServiceError } from '../../src/service/errors.js';
import { openSqliteLedger } from '../ledger/opened-ledger.js';
import { answerWith, serviceAt } from '../service/opened-service.js';
import { type StandIn, type StandInAnswer, startStandIn } from '../support/http-stand-in.js';

const row = (number: number) => ({
  ServiceId: number,
  ProviderHotelId: `h-${number}`,
  ProviderName: 'Bedlink',
});
const rows = (count: number, from = 1) => Array.from({ length: count }, (_, index) => row(from + index));
const refusal = (StatusCode: number) => ({ Status: false, Message: 'no', StatusCode });

/** Pages by the key they are requested with, `''` for the first; or other answers. */
async function prepare(
  answerTo: (key: string, number: number, limit: number) => object | StandInAnswer,
  { limit = 10 }: { readonly limit?: number } = {},
) {
  const standIn: StandIn = await startStandIn(({ url }, number) => {
    const query = new URL(url, 'http://x').searchParams;
    const answer = answerTo(query.get('resumeKey') ?? '', number, Number(query.get('limit')));
    return 'kind' in answer ? answer : answerWith(answer);
  });
  onTestFinished(() => standIn.close());
  const service = serviceAt(standIn.baseUrl);
  const opened = await openSqliteLedger();
  onTestFinished(() => opened.cleanUp());
  const events: SyncEvent[] = [];
  let syncs = 0;
  let now = Date.UTC(2026, 10, 22);
  const { mappings } = opened.ledger;
  const listAsked = (name: string) =>
    standIn.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get(name));
  return {
    standIn,
    events,
    listAsked,
    limits: () => listAsked('limit').map(Number),
    mappings,
    sync: (
      request: Parameters<typeof syncMappings>[0] = {},
      { signal = new AbortController().signal, copy = mappings } = {},
    ) =>
      syncMappings(
        request,
        {
          ...{ service, copy, limit },
          // Each call of the service takes a second.
          clock: () => {
            now += 1_000;
            return now;
          },
          createSyncId: () => {
            syncs += 1;
            return `s${syncs}`;
          },
          notify: (event) => void events.push(event),
        },
        signal,
      ),
  };
}

async function errorOf(sync: Promise<unknown>): Promise<MappingServiceError> {
  const error = await sync.catch((thrown: unknown) => thrown);
  if (error instanceof MappingServiceError) return error;
  throw new Error('expected the sync to fail with an error of the service');
}

describe('a sync', () => {
  it('fails when a key is refused each time, however many pages come before it', async () => {
    const { sync } = await prepare((key, _number, pageLength) => {
      const page = Number(key);
      return page === 12
        ? refusal(2027)
        : { ResumeKey: `${page + 1}`, Mappings: rows(pageLength, 1 + page * pageLength) };
    });
    expect(await errorOf(sync())).toMatchObject({ statusCode: 2027 });
    expect(await errorOf(sync())).toMatchObject({ statusCode: 2027 });
  });

  it.each([
    ['where it stopped', {}, 'k'],
    ['anew from an instant that a person names', { since: 5_000 }, null],
  ])('ends at once when it is asked to, and the next one goes on %s', async (_, request, key) => {
    const stop = new AbortController();
    const { sync, listAsked } = await prepare((key, number) => {
      if (number === 2) stop.abort(new Error('stopped'));
      return key === '' ? { ResumeKey: 'k', Mappings: rows(3) } : { Mappings: [] };
    });
    await expect(sync({}, stop)).rejects.toThrow('stopped');
    await sync(request);
    expect(listAsked('resumeKey')[2]).toBe(key);
  });

  it('of one provider begins where the last one of that provider began, at first in 1970', async () => {
    const { sync, listAsked } = await prepare(() => ({ Mappings: [] }));
    for (const providerFamily of [undefined, 'Bedlink', 'Bedlink']) await sync({ providerFamily });
    expect(listAsked('providerFamily')).toEqual([null, 'Bedlink', 'Bedlink']);
    const first = '1970-01-01T00:00:00.000Z';
    expect(listAsked('lastUpdateDateTime')).toEqual([first, first, expect.stringMatching(/^20/)]);
  });

  it('counts from when the service began to answer, by its clock', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 12:00:00 GMT' };
    const { sync } = await prepare(() => ({ ...answerWith({ Mappings: [] }), headers }));
    expect(await sync()).toMatchObject({ serviceBeganAt: Date.UTC(2026, 10, 21, 11, 59, 59) });
  });

  it('stores a page of any length, and the pages after it', async () => {
    const answer = (key: string) =>
      key === '' ? { ResumeKey: 'k', Mappings: rows(2_500) } : { Mappings: [row(2_501)] };
    const { sync } = await prepare(answer, { limit: 1_000 });
    expect(await sync()).toMatchObject({ counts: { pages: 2, read: 2_501, added: 2_501 } });
  });

  it.each([404, 410])('begins again where the service answers its key with %i', async (status) => {
    const { sync } = await prepare((key, number) => {
      if (number === 2) return { kind: 'text', status, body: '' };
      return key === '' ? { ResumeKey: 'k', Mappings: rows(2) } : { Mappings: [row(3)] };
    });
    expect(await sync()).toMatchObject({ counts: { restarts: 1, added: 3 } });
  });

  it('ends where another process may have the right to sync, and gives it back', async () => {
    const lost = new AbortController();
    const { sync, mappings } = await prepare(() => {
      lost.abort();
      return { Mappings: [] };
    });
    let isReleased = false;
    const release = async () => {
      isReleased = true;
    };
    const copy = { ...mappings, holdSync: async () => ({ lost: lost.signal, release }) };
    await expect(sync({}, { copy })).rejects.toThrow('the right to sync was lost');
    expect(isReleased).toBe(true);
  });

  it('waits for nobody: it asks the service for nothing while another process syncs', async () => {
    const { sync, mappings, standIn } = await prepare(() => ({ Mappings: [] }));
    const hold = await mappings.holdSync();
    await expect(sync()).rejects.toThrow('being synced by another process');
    expect(standIn.requests).toEqual([]);
    await hold?.release();
    await sync();
    expect(standIn.requests).toHaveLength(1);
  });

  it('skips what it cannot read, sets it aside, and stores the rest of the page', async () => {
    const { sync, events, mappings } = await prepare(() => ({
      Mappings: [
        { ...row(1), ServiceId: '102' },
        { ...row(2), ProviderName: null },
        { ...row(1), ServiceId: null, Type: 'Delete' },
        row(3),
      ],
    }));
    expect(await sync()).toMatchObject({ counts: { read: 4, added: 2, skipped: 1 } });
    expect(events).toContainEqual(
      expect.objectContaining({
        ...{ type: 'mappings-skipped', count: 1 },
        reason: 'expected Mappings[1].ProviderName to be a string, got: null',
      }),
    );
    expect((await mappings.summarise()).lastSkipped).toMatchObject([
      { record: JSON.stringify({ ...row(2), ProviderName: null }) },
    ]);
  });

  it('fails where the account refuses even the lowest limit, and says so', async () => {
    const { sync, limits } = await prepare(() => refusal(2012), { limit: 100 });
    const error = await errorOf(sync());
    expect(error).toMatchObject({ statusCode: 2012, kind: 'refused' });
    expect(error.message).toMatch(/does not even allow 10 mappings per page; ask the operator/);
    expect(limits()).toEqual([100, 50, 25, 12, 10]);
  });

  it.each([
    [
      'a limit that the account does not allow',
      (all: readonly object[], limit: number) => (limit > 300 ? refusal(2012) : all),
    ],
    [
      'a page that is too large',
      (all: readonly object[], limit: number) =>
        all.map((one) => ({ ...one, More: 'x'.repeat(limit > 250 ? 4_000 : 100) })),
    ],
  ])('halves the limit at %s, tells it once, and begins the next sync with it', async (_, answer) => {
    const all = rows(1_300);
    const { sync, events, limits } = await prepare(
      (key, _number, limit) => {
        const from = Number(key);
        const found = answer(all.slice(from, from + limit), limit);
        if (!Array.isArray(found)) return found;
        const isLast = from + limit >= all.length;
        return { Mappings: found, ResumeKey: isLast ? null : String(from + limit) };
      },
      { limit: 1_000 },
    );
    expect(await sync()).toMatchObject({ pageLimit: 250, counts: { pages: 6, added: 1_300 } });
    expect(limits()).toEqual([1_000, 500, ...Array(6).fill(250)]);
    expect(await sync()).toMatchObject({ pageLimit: 250, counts: { unchanged: 1_300 } });
    expect(limits().slice(8)).toEqual(Array(6).fill(250));
    expect(events.filter(({ type }) => type === 'pages-shortened')).toMatchObject([{ limit: 250 }]);
  });
});
