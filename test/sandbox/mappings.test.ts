import { describe, expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import {
  ask,
  askAll,
  askPage,
  changeWorld,
  type GivenMapping,
  hotelOf,
  mappingOf,
  post,
  refused,
  startedSandbox,
  waitForLine,
} from './started-sandbox.js';

const iso = (instant: number) => new Date(instant).toISOString();
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A copy that applies the changes of pages. */
function createCopy() {
  const rows = new Map<string, Omit<GivenMapping, 'Type'>>();
  return {
    rows,
    apply(mappings: readonly GivenMapping[]) {
      for (const mapping of mappings) {
        const { Type, ...row } = mapping;
        if (Type !== 'Delete') rows.set(hotelOf(mapping), row);
        // For a hotel that moved, the deletion is about the mapping it moved away from.
        else if (rows.get(hotelOf(mapping))?.ServiceId === mapping.ServiceId) rows.delete(hotelOf(mapping));
      }
    },
  };
}

describe('Pages of mappings', () => {
  it('give each of the world once, with the specified fields, until there is no key', async () => {
    const sandbox = await startedSandbox();
    const first = await askPage(sandbox);
    expect(Object.keys(first)).toEqual(['ResumeKey', 'Mappings', 'Status', 'Message', 'StatusCode']);
    expect(first).toMatchObject({ ResumeKey: expect.stringMatching(uuid), Mappings: { length: 10 } });
    const all = await askAll(sandbox, { limit: 100, syncId: 'sync-2' });
    expect(all.slice(0, 10)).toEqual(first.Mappings);
    expect(all.map(mappingOf)).toEqual(
      sandbox.world.history.map((one) => `${one.serviceId} ${one.providerName} ${one.providerHotelId}`),
    );
    for (const mapping of all) {
      expect(mapping).toEqual({
        ServiceId: expect.any(Number),
        ProviderHotelId: expect.any(String),
        ProviderName: expect.any(String),
        ProviderLocationCode: expect.stringMatching(/^[A-Z]{3}-[1-9]$/),
        Type: expect.stringMatching(/^(?:New|Delete)$/),
        ChannelIds: expect.any(Array),
      });
      expect(mapping.ChannelIds.join('\n')).toMatch(/^[A-Z]\w+,[A-Z]\w+(?:\n[A-Z]\w+,[A-Z]\w+){0,2}$/);
      expect(new Set(mapping.ChannelIds).size).toBe(mapping.ChannelIds.length);
    }
    expect(sandbox.told.at(-1)).toMatch(/: 200 2000, \d+ mappings? sent, the last page$/);
  });

  it('tell what is new, updated and deleted since the bound, which is included', async () => {
    const sandbox = await startedSandbox();
    const { history } = sandbox.world;
    const someChange = history[Math.floor(history.length / 2)]?.changedAt ?? 0;
    for (const since of [Date.UTC(2025, 2), Date.UTC(2025, 8), someChange]) {
      const changes = await askAll(sandbox, { since: iso(since), syncId: `${since}` });
      const later = history.filter(({ changedAt }) => changedAt >= since);
      expect(changes.map(({ Type }) => Type)).toEqual(
        later.map(({ isDeleted, createdAt }) =>
          isDeleted ? 'Delete' : createdAt >= since ? 'New' : 'Update',
        ),
      );
      expect(new Set(changes.map(({ Type }) => Type)).size).toBe(3);
    }
  });

  it('since an instant turn an older copy into the current world, which reviews follow at once', async () => {
    const sandbox = await startedSandbox();
    const copy = createCopy();
    copy.apply(await askAll(sandbox));
    for (let sync = 2; sync < 6; sync += 1) {
      const since = iso(sandbox.time.now);
      changeWorld(sandbox, 100);
      const changes = await askAll(sandbox, { since, limit: 7, syncId: `sync-${sync}` });
      expect(new Set(changes.map(mappingOf)).size).toBe(changes.length);
      copy.apply(changes);
      const Hotels = changes.map(({ ServiceId, ProviderName, ProviderHotelId }) => ({
        ...{ ServiceId, ProviderName, ProviderHotelId },
      }));
      const { incorrect } = sandbox.service.counts;
      await post(sandbox, { Hotels });
      const deleted = changes.filter(({ Type }) => Type === 'Delete').length;
      expect(sandbox.service.counts.incorrect - incorrect).toBe(deleted);
    }
    const fresh = createCopy();
    fresh.apply(await askAll(sandbox, { syncId: 'sync-9' }));
    expect(copy.rows).toEqual(fresh.rows);
    expect(copy.rows.size).toBe(sandbox.world.mappings.length);
  });

  it('can be limited to one provider', async () => {
    const sandbox = await startedSandbox();
    const some = await askAll(sandbox, { providerFamily: 'Room & Co', limit: 9 });
    const all = await askAll(sandbox, { syncId: 'sync-2' });
    expect(some).toEqual(all.filter(({ ProviderName }) => ProviderName === 'Room & Co'));
    expect(some.length).toBeGreaterThan(9);
    // No key leads to an empty page.
    expect(await askPage(sandbox, { providerFamily: 'Room & Co', limit: some.length })).toMatchObject({
      ...{ ResumeKey: null, Mappings: some },
    });
  });
});

describe('A resume key', () => {
  it('gives the same page each time, to the calls that it was given to', async () => {
    const sandbox = await startedSandbox();
    const { ResumeKey: resumeKey } = await askPage(sandbox, { limit: 5 });
    if (resumeKey === null) throw new Error('expected a key');
    const once = await askPage(sandbox, { limit: 5, resumeKey });
    const again = await askPage(sandbox, { limit: 8, resumeKey: resumeKey.toUpperCase() });
    expect(again.Mappings.slice(0, 5)).toEqual(once.Mappings);
    for (const other of [
      { syncId: 'sync-2' },
      { since: '1970-01-01T00:00:00.001Z' },
      { providerFamily: 'Sakura' },
      { resumeKey: 'c3f9a1de-0000-4000-8000-000000000000' },
    ])
      expect(await askPage(sandbox, { resumeKey, ...other })).toMatchObject(refused(2006));
    expect(await askPage(await startedSandbox(), { resumeKey })).toMatchObject(refused(2006));
  });
});

describe('A call for mappings', () => {
  const bound = 'lastUpdateDateTime=1970-01-01T00:00:00.000Z';

  it('is refused where a parameter is wrong', async () => {
    const sandbox = await startedSandbox();
    for (const [query, statusCode, syncId = 's'] of [
      [bound, 2016, ' '],
      [bound, 2016, 's'.repeat(201)],
      ['', 2017],
      [bound.toLowerCase(), 2017],
      ['lastUpdateDateTime=2026-11-20', 2007],
      ['lastUpdateDateTime=2026-11-20T00:00:00', 2007],
      ['lastUpdateDateTime=2026-11-20T00:00:00%2B01:00', 2007],
      ['lastUpdateDateTime=2026-02-30T00:00:00Z', 2007],
      ['lastUpdateDateTime=2026-02-03T25:00:00Z', 2007],
      [`${bound}&limit=0`, 2012],
      [`${bound}&limit=1001`, 2012],
      [`${bound}&limit=1.5`, 2012],
      [`${bound}&providerFamily=sakura`, 2011],
    ] as const) {
      const { json } = await ask(sandbox, `/mappings?${query}`, { headers: { syncId } });
      expect([query, json]).toEqual([query, refused(statusCode)]);
    }
    expect(sandbox.told[0]).toBe('call 1 mappings: 200 2016, 0 mappings sent');
  });

  it('is answered with as many mappings as it allows', async () => {
    const sandbox = await startedSandbox({ world: createWorld({ seed: 1, hotels: 300 }), maxLimit: 1_100 });
    for (const [query, count] of [
      [`${bound}&limit=1100`, 1_100],
      [`${bound}&limit=&providerFamily=&resumeKey=`, 10],
      ['lastUpdateDateTime=1970-01-01T00:00Z', 10],
      ['lastUpdateDateTime=1970-01-01T00:00:00%2B00:00', 10],
      ['lastUpdateDateTime=1970-01-01T00:00:00.123456789Z', 10],
      ['lastUpdateDateTime=2999-01-01T00:00:00Z', 0],
    ] as const) {
      const { json } = await ask(sandbox, `/mappings?${query}`, { headers: { syncId: query } });
      expect([query, json]).toMatchObject([query, { Status: true, Mappings: { length: count } }]);
    }
  });

  it('is refused with 2030 while another one of its syncId is in progress, until that has ended or left', async () => {
    const sandbox = await startedSandbox({ faults: ['latency:60@1'] });
    const leaving = new AbortController();
    const path = `/mappings?${bound}`;
    const slow = ask(sandbox, path, { headers: { syncId: 'sync-1' }, signal: leaving.signal });
    const left = expect(slow).rejects.toThrow('abort');
    await expect.poll(() => sandbox.service.counts.calls).toBe(1);
    expect(await askPage(sandbox)).toMatchObject(refused(2030));
    expect(await askPage(sandbox, { syncId: 'sync-2' })).toMatchObject({ Status: true });
    leaving.abort();
    await left;
    await waitForLine(sandbox, 'no answer');
    const answers = await Promise.all(Array.from({ length: 8 }, () => askPage(sandbox)));
    expect(new Set(answers.map(({ StatusCode }) => StatusCode))).toEqual(new Set([2000, 2030]));
    expect(sandbox.told.join('\n')).not.toMatch(/sync-1|sandbox-key/);
  });
});

it('The list of brands is complete, and decided by the seed', async () => {
  const brandsOf = async (seed: number) => {
    const sandbox = await startedSandbox({ world: createWorld({ seed, hotels: 10 }) });
    return (await ask(sandbox, '/content/GetMasterHotelBrands')).json.HotelBrands as object[];
  };
  const brands = (await brandsOf(1)) as Readonly<Record<string, unknown>>[];
  for (const brand of brands) {
    expect(brand).toEqual({
      Id: expect.any(Number),
      BrandCode: expect.stringMatching(/^[A-Z]{2}\d{1,2}[A-F]$/),
      BrandName: expect.stringMatching(/\S/),
      ChainId: expect.any(Number),
    });
  }
  for (const key of ['Id', 'BrandCode'])
    expect(new Set(brands.map((brand) => brand[key])).size).toBe(brands.length);
  expect(new Set(brands.map(({ ChainId }) => ChainId)).size).toBe(24);
  expect(await brandsOf(1)).toEqual(brands);
  expect(await brandsOf(2)).not.toEqual(brands);
});
