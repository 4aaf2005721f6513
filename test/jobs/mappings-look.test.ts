import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDayFolder } from '../support/day-folder.js';
import { type StandInAnswer, startStandIn } from '../support/http-stand-in.js';
import { createMappingTruth, makeMappings, readCopy, type TrueMapping } from '../support/mapping-truth.js';
import { patienceMs } from '../support/patience.js';

const brands = [
  { Id: 1, BrandCode: 'AX', BrandName: 'Axel, Hotels', ChainId: 9, Since: 1999 },
  { Id: 2, BrandCode: null, BrandName: '=Boutique', ChainId: null },
];
const [first] = makeMappings(1) as [TrueMapping];

async function prepare(settings: Readonly<Record<string, unknown>> = {}) {
  const truth = createMappingTruth(makeMappings(40));
  const service = await startStandIn(async (request): Promise<StandInAnswer> => {
    if (request.url === '/api/3.0/content/GetMasterHotelBrands')
      return { kind: 'json', body: { HotelBrands: brands, Status: true, Message: 'ok', StatusCode: 2000 } };
    return truth.answer(request);
  });
  onTestFinished(() => service.close());
  const folder = await createDayFolder({ baseUrl: service.baseUrl, settings, hasWorkers: false });
  return { truth, service, folder };
}

describe('the local copy of the mappings', () => {
  it('shows a provider hotel as text and as JSON', async () => {
    const { folder } = await prepare();
    await folder.run(['mappings', 'sync']);
    const words = await folder.run(['mappings', 'show', first.provider, first.hotel]);
    expect(words.stdout).toContain(`NorthStar 00000000: master hotel ${first.serviceId}`);
    const { json, exitCode } = await folder.run(['mappings', 'show', first.provider, first.hotel, '--json']);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      serviceId: first.serviceId,
      channelIds: first.channels,
      locationCode: first.location,
      history: [],
    });
  });

  it('exits with 1 for an unknown hotel and says so', async () => {
    const { folder } = await prepare();
    const nowhere = await folder.run(['mappings', 'show', first.provider, first.hotel]);
    expect(nowhere).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('There is no ledger') });
    await folder.run(['mappings', 'sync']);
    const unknown = await folder.run(['mappings', 'show', 'northstar', first.hotel, '--json']);
    expect(unknown).toMatchObject({ exitCode: 1, json: { serviceId: null } });
  });

  it('counts its rows', async () => {
    const { folder } = await prepare();
    const before = await folder.run(['mappings', 'stats', '--json']);
    expect(before).toMatchObject({ exitCode: 0, json: { mappings: 0, syncs: [] } });
    await folder.run(['mappings', 'sync']);
    const { json } = await folder.run(['mappings', 'stats', '--json']);
    expect(json).toMatchObject({
      mappings: 40,
      masterHotels: 14,
      deleted: 0,
      providers: [
        { providerName: 'Atlántico', mappings: 10 },
        { providerName: 'Bedlink', mappings: 10 },
        { providerName: 'NorthStar', mappings: 10 },
        { providerName: 'Room & Co', mappings: 10 },
      ],
      syncs: [{ added: 40, providerFamily: null }],
    });
    expect((await folder.run(['mappings', 'stats'])).stdout).toContain('all providers: synced at');
  });
});

describe('brands', () => {
  it("prints the service's list as JSON, as a table, or to a file", async () => {
    const { folder, service } = await prepare();
    const { json, exitCode } = await folder.run(['brands', '--json']);
    expect(exitCode).toBe(0);
    expect(json).toEqual(brands);
    expect(service.requests[0]).toMatchObject({
      method: 'GET',
      url: '/api/3.0/content/GetMasterHotelBrands',
    });
    expect((await folder.run(['brands'])).stdout).toContain('Axel, Hotels');
    const file = join(folder.path, 'brands.csv');
    await folder.run(['brands', '--csv', file]);
    expect(await readFile(file, 'utf8')).toBe(
      `\uFEFFId,BrandCode,BrandName,ChainId\n1,AX,"Axel, Hotels",9\n2,,'=Boutique,\n`,
    );
    expect(await folder.run(['brands', '--csv', file])).toMatchObject({ exitCode: 2 });
  });

  it('fails with a clear error without the key when the service refuses', async () => {
    const service = await startStandIn(() => ({
      kind: 'json',
      status: 403,
      body: { code: 2003, message: 'no' },
    }));
    onTestFinished(() => service.close());
    const folder = await createDayFolder({ baseUrl: service.baseUrl, hasWorkers: false });
    const { exitCode, json, stderr } = await folder.run(['brands', '--json']);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ error: { class: 'fatal', message: expect.stringContaining('403') } });
    expect(stderr).not.toContain('key-of-the-test');
    expect(service.requests).toHaveLength(1);
  });
});

describe('serve with a schedule for the copy', () => {
  it('syncs at its start if there has never been a sync', async () => {
    const { folder, truth } = await prepare({
      mappings: { cron: '0 1 * * *' },
      schedule: { catchUpDays: 0 },
    });
    const serve = folder.call(['serve', '--port', '0']);
    await serve.wrote('"sync ended"');
    serve.stop('SIGTERM');
    expect((await serve.ended).exitCode).toBe(0);
    expect(await readCopy(folder.ledgerFile)).toEqual(truth.standing());
    expect(truth.calls).toHaveLength(1);
  });

  it('keeps running while the service is down, and stops when asked to', async () => {
    let isAway = true;
    const truth = createMappingTruth(makeMappings(4));
    const service = await startStandIn((request) =>
      truth.answer(request, isAway ? 'unavailable' : 'answered'),
    );
    onTestFinished(() => service.close());
    const folder = await createDayFolder({
      baseUrl: service.baseUrl,
      settings: { mappings: { cron: '0 1 * * *' }, schedule: { catchUpDays: 0 } },
      hasWorkers: false,
    });
    const serve = folder.call(['serve', '--port', '0']);
    await serve.wrote('sync failed: it is tried again');
    isAway = false;
    expect(serve.hasEnded).toBe(false);
    serve.stop('SIGTERM');
    await vi.waitUntil(() => serve.hasEnded, { timeout: patienceMs, interval: 5 });
    expect((await serve.ended).exitCode).toBe(0);
  });
});
