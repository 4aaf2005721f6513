import { describe, expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import { describeMappings } from './asking-clients.js';
import { nodeHttp } from './http-clients.js';
import {
  askAll,
  askJson,
  askPage,
  changeWorld,
  epoch,
  type GivenMapping,
  hotelOf,
  mappingOf,
  startedAt,
  startedSandbox,
} from './started-sandbox.js';

const second = 1_000;
const iso = (instant: number) => new Date(instant).toISOString();
const refused = (StatusCode: number) => ({ Status: false, StatusCode });
const mappingsPath = `/mappings?lastUpdateDateTime=${epoch}`;

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

describeMappings(nodeHttp);

describe('A mapping', () => {
  it('has the specified fields, with ids as strings and channels with rate plan types', async () => {
    const sandbox = await startedSandbox();
    for (const mapping of await askAll(sandbox)) {
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
  });

  it('is new when it was created since the bound, updated when it is older, and deleted when it is gone', async () => {
    const sandbox = await startedSandbox();
    const { history } = sandbox.world;
    for (const since of ['2025-03-01T00:00:00Z', '2025-09-01T00:00:00Z']) {
      const changes = await askAll(sandbox, { since, syncId: since });
      const later = history.filter(({ changedAt }) => changedAt >= Date.parse(since));
      expect(changes.map(({ Type }) => Type)).toEqual(
        later.map(({ isDeleted, createdAt }) =>
          isDeleted ? 'Delete' : createdAt >= Date.parse(since) ? 'New' : 'Update',
        ),
      );
      expect(new Set(changes.map(({ Type }) => Type))).toEqual(new Set(['New', 'Update', 'Delete']));
    }
  });
});

describe('Changes', () => {
  it('since an instant turn an older copy into the current world', async () => {
    const sandbox = await startedSandbox();
    const copy = createCopy();
    copy.apply(await askAll(sandbox));
    for (let sync = 2; sync < 8; sync += 1) {
      const since = iso(sandbox.time.now);
      changeWorld(sandbox, 100);
      const changes = await askAll(sandbox, { since, limit: 7, syncId: `sync-${sync}` });
      expect(new Set(changes.map(mappingOf)).size).toBe(changes.length);
      expect(changes.length).toBeLessThan(400);
      copy.apply(changes);
    }
    const fresh = createCopy();
    fresh.apply(await askAll(sandbox, { syncId: 'sync-9' }));
    expect(copy.rows).toEqual(fresh.rows);
    expect(copy.rows.size).toBe(sandbox.world.mappings.length);
  });

  it('at the exact instant of the bound are included, as new if created then', async () => {
    const sandbox = await startedSandbox();
    changeWorld(sandbox, 300);
    for (let instant = startedAt + second; instant <= sandbox.time.now; instant += second) {
      const since = { since: iso(instant), syncId: 'sync-2' };
      const later = await askAll(sandbox, { since: iso(instant + 1), syncId: 'sync-3' });
      const [from, ...others] = await askAll(sandbox, since);
      if (others.length < later.length || from?.Type !== 'New') continue;
      expect(later.map(mappingOf)).not.toContain(mappingOf(from));
      return;
    }
    throw new Error('expected a second in which a mapping came to be');
  });

  it('are correct in a review as soon as they are listed', async () => {
    const sandbox = await startedSandbox();
    const before = sandbox.world.mappings;
    changeWorld(sandbox, 300);
    const changes = await askAll(sandbox, { since: iso(startedAt) });
    const booked = changes.map(({ ServiceId, ProviderName, ProviderHotelId }) => ({
      ...{ ServiceId, ProviderName, ProviderHotelId },
    }));
    const post = (Hotels: readonly object[]) =>
      fetch(`${sandbox.service.baseUrl}/hotels/ReviewMappingsOfBookedHotels`, {
        method: 'POST',
        headers: { apikey: 'sandbox-key', accountId: 'sandbox-account', 'Content-Type': 'application/json' },
        body: JSON.stringify({ Hotels }),
      });
    await post(booked);
    const deleted = changes.filter(({ Type }) => Type === 'Delete').length;
    expect(sandbox.service.counts).toMatchObject({ reviewed: changes.length, incorrect: deleted });
    await post(
      before.map(({ serviceId, providerName, providerHotelId }) => ({
        ...{ ServiceId: serviceId, ProviderName: providerName, ProviderHotelId: providerHotelId },
      })),
    );
    expect(sandbox.service.counts.incorrect).toBeGreaterThan(deleted + 20);
  });

  it('can be limited to one provider', async () => {
    const sandbox = await startedSandbox();
    const some = await askAll(sandbox, { providerFamily: 'Room & Co', limit: 9 });
    const all = await askAll(sandbox, { syncId: 'sync-2' });
    expect(some).toEqual(all.filter(({ ProviderName }) => ProviderName === 'Room & Co'));
    expect(some.length).toBeGreaterThan(9);
  });

  it('use the clock of the Date header', async () => {
    const sandbox = await startedSandbox();
    sandbox.time.now += 5 * second;
    const { service } = sandbox;
    const answer = await fetch(`${service.baseUrl}${mappingsPath}`, {
      headers: { apikey: 'sandbox-key', accountId: 'sandbox-account', syncId: 'sync-1' },
    });
    await answer.body?.cancel();
    expect(Date.parse(answer.headers.get('date') ?? '')).toBe(sandbox.time.now);
  });
});

describe('A resume key', () => {
  it('gives the same page each time', async () => {
    const sandbox = await startedSandbox();
    const { ResumeKey: resumeKey } = await askPage(sandbox, { limit: 5 });
    if (resumeKey === null) throw new Error('expected a key');
    const once = await askPage(sandbox, { limit: 5, resumeKey });
    sandbox.time.now += 60 * second;
    const again = await askPage(sandbox, { limit: 5, resumeKey: resumeKey.toUpperCase() });
    expect(again.Mappings).toEqual(once.Mappings);
    expect((await askPage(sandbox, { limit: 8, resumeKey })).Mappings.slice(0, 5)).toEqual(once.Mappings);
  });

  it('is refused with another syncId, bound or provider', async () => {
    const sandbox = await startedSandbox();
    const { ResumeKey: resumeKey } = await askPage(sandbox);
    if (resumeKey === null) throw new Error('expected a key');
    for (const other of [
      { syncId: 'sync-2' },
      { since: '1970-01-01T00:00:00.001Z' },
      { providerFamily: 'Sakura' },
    ])
      expect(await askPage(sandbox, { resumeKey, ...other })).toMatchObject(refused(2006));
    expect(await askPage(sandbox, { resumeKey, since: '1970-01-01T00:00Z' })).toMatchObject({ Status: true });
  });

  it.each(['c3f9a1de-0000-4000-8000-000000000000', 'null', 'k-1'])(
    'is unknown when it is %s',
    async (resumeKey) => {
      const sandbox = await startedSandbox();
      const answer = await askPage(sandbox, { resumeKey });
      expect(answer).toMatchObject({ ...refused(2006), Message: expect.not.stringContaining(resumeKey) });
    },
  );

  it('is unknown after a restart', async () => {
    const { ResumeKey: resumeKey } = await askPage(await startedSandbox());
    if (resumeKey === null) throw new Error('expected a key');
    expect(await askPage(await startedSandbox(), { resumeKey })).toMatchObject(refused(2006));
  });
});

describe('A call for mappings', () => {
  const bound = `lastUpdateDateTime=${epoch}`;

  it.each([
    ['without a syncId', undefined, bound, 2016],
    ['with a blank syncId', ' ', bound, 2016],
    ['with a syncId of 201 characters', 's'.repeat(201), bound, 2016],
    ['without a bound', 's', '', 2017],
    ['with a blank bound', 's', 'lastUpdateDateTime=', 2017],
    ['with a bound in another case', 's', `lastupdatedatetime=${epoch}`, 2017],
    ['with a date as bound', 's', 'lastUpdateDateTime=2026-11-20', 2007],
    ['with a local time', 's', 'lastUpdateDateTime=2026-11-20T00:00:00', 2007],
    ['with a time in another zone', 's', 'lastUpdateDateTime=2026-11-20T00:00:00%2B01:00', 2007],
    ['with an unescaped plus sign', 's', 'lastUpdateDateTime=2026-11-20T00:00:00+00:00', 2007],
    ['with the 30th of February', 's', 'lastUpdateDateTime=2026-02-30T00:00:00Z', 2007],
    ['with hour 25', 's', 'lastUpdateDateTime=2026-02-03T25:00:00Z', 2007],
    ['with a limit of 0', 's', `${bound}&limit=0`, 2012],
    ['with a limit of 1001', 's', `${bound}&limit=1001`, 2012],
    ['with a limit in letters', 's', `${bound}&limit=ten`, 2012],
    ['with half a mapping as limit', 's', `${bound}&limit=1.5`, 2012],
    ['for an unknown provider', 's', `${bound}&providerFamily=Roomly`, 2011],
    ['for a provider in another case', 's', `${bound}&providerFamily=sakura`, 2011],
  ])('%s is refused', async (_, syncId, query, statusCode) => {
    const sandbox = await startedSandbox();
    const headers = syncId === undefined ? {} : { syncId };
    expect(await askJson(sandbox, `/mappings?${query}`, headers)).toEqual({
      Status: false,
      Message: expect.any(String),
      StatusCode: statusCode,
    });
    expect(sandbox.service.counts).toMatchObject({ calls: 1 });
  });

  it.each([
    ['no limit', bound, 10],
    ['a blank limit', `${bound}&limit=`, 10],
    ['a limit of 1', `${bound}&limit=1`, 1],
    ['a limit of 1000', `${bound}&limit=1000`, 1_000],
    ['blank parameters', `${bound}&providerFamily=&resumeKey=`, 10],
    ['a time in minutes', 'lastUpdateDateTime=1970-01-01T00:00Z', 10],
    ['UTC as a numeric offset', 'lastUpdateDateTime=1970-01-01T00:00:00%2B00:00', 10],
    ['a time in nanoseconds', 'lastUpdateDateTime=1970-01-01T00:00:00.123456789Z', 10],
    ['a time in the future', 'lastUpdateDateTime=2999-01-01T00:00:00Z', 0],
  ])('with %s is answered', async (_, query, count) => {
    const sandbox = await startedSandbox({ world: createWorld({ seed: 1, hotels: 300 }) });
    expect(sandbox.world.mappings.length).toBeGreaterThan(1_000);
    const page = await askJson(sandbox, `/mappings?${query}`, { syncId: 'sync-1' });
    expect(page).toMatchObject({ Status: true, Mappings: { length: count } });
  });

  it('is refused with 2030 while another one of its syncId is in progress; other syncIds are not affected', async () => {
    const sandbox = await startedSandbox({ faults: ['latency:0.5@1'] });
    const slow = askPage(sandbox);
    const [same, other] = await Promise.all([askPage(sandbox), askPage(sandbox, { syncId: 'sync-2' })]);
    const answers = [await slow, same];
    expect(answers.map(({ StatusCode }) => StatusCode).sort()).toEqual([2000, 2030]);
    expect(other).toMatchObject({ Status: true });
    expect(await askPage(sandbox)).toMatchObject({ Status: true });
  });

  it('is noticed as parallel even if no fault delays the first one', async () => {
    const sandbox = await startedSandbox();
    const answers = await Promise.all(Array.from({ length: 8 }, () => askPage(sandbox)));
    expect(answers.map(({ StatusCode }) => StatusCode)).toContain(2030);
    expect(answers.map(({ StatusCode }) => StatusCode)).toContain(2000);
  });

  it('whose client left does not block its syncId', async () => {
    const sandbox = await startedSandbox({ faults: ['latency:60@1'] });
    const headers = { apikey: 'sandbox-key', accountId: 'sandbox-account', syncId: 'sync-1' };
    const url = `${sandbox.service.baseUrl}${mappingsPath}`;
    const asked = { method: 'GET', url, headers, timeoutSeconds: 0.3 };
    expect(await nodeHttp.ask(asked)).toEqual({ kind: 'timed-out' });
    await expect.poll(() => sandbox.told.filter((line) => line.includes('no answer')).length).toBe(1);
    expect(await askPage(sandbox)).toMatchObject({ Status: true });
  });

  it('is subject to faults like reviews are', async () => {
    const sandbox = await startedSandbox({ faults: ['status:503:1@1', 'refuse:2027@2'] });
    await expect(askPage(sandbox)).rejects.toThrow('"status":503');
    expect(await askPage(sandbox)).toMatchObject(refused(2027));
    expect(await askPage(sandbox)).toMatchObject({ Status: true });
    expect(sandbox.told).toEqual([
      'call 1 mappings (status): 503 2001, 0 mappings sent',
      'call 2 mappings (refuse): 200 2027, 0 mappings sent',
      'call 3 mappings: 200 2000, 10 mappings sent',
    ]);
    expect(sandbox.told.join('\n')).not.toMatch(/sync-1|sandbox-key/);
  });
});
