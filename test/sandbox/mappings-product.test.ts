import { describe, expect, it } from 'vitest';
import { createPager } from '../../src/mappings/sync-mappings.js';
import { account } from '../../src/sandbox/sandbox.js';
import type { MappingRecord } from '../../src/service/operations.js';
import { serviceAt } from '../mapping-service/opened-service.js';
import { patienceMs } from '../support/patience.js';
import { type StartedSandbox, type StartOptions, startedSandbox } from './started-sandbox.js';

const since = new Date(0);

const serviceOf = ({ service: { baseUrl } }: StartedSandbox) =>
  serviceAt(baseUrl, {
    ...{ apiKey: account.apiKey, accountId: account.accountId },
    ...{ timeoutSeconds: 5, retry: { tries: 3, baseMs: 1, capMs: 5 } },
  });

async function readAll(options: StartOptions) {
  const sandbox = await startedSandbox(options);
  const service = serviceOf(sandbox);
  const pager = createPager();
  const mappings: MappingRecord[] = [];
  const query = { lastUpdateDateTime: since, syncId: 'sync-1', limit: 20 };
  let resumeKey: string | undefined;
  do {
    const page = await service.getMappings({ ...query, ...(resumeKey !== undefined && { resumeKey }) });
    mappings.push(...page.Mappings);
    resumeKey = pager.next(page, resumeKey);
  } while (resumeKey !== undefined);
  return { sandbox, mappings };
}

describe('The client of all operations', () => {
  it.each([
    ['without faults', []],
    ['when calls fail', ['status:503:0@2', 'refuse:2030@4']],
  ])('reads each mapping once, %s', async (_, faults) => {
    const { sandbox, mappings } = await readAll({ faults });
    const written = (m: MappingRecord) => `${m.ServiceId} ${m.ProviderName} ${m.ProviderHotelId}`;
    expect(mappings.map(written).sort()).toEqual(
      sandbox.world.history
        .map(
          ({ serviceId, providerName, providerHotelId }) => `${serviceId} ${providerName} ${providerHotelId}`,
        )
        .sort(),
    );
  });

  it('is refused a limit that the account does not allow', async () => {
    const query = { lastUpdateDateTime: since, syncId: 'sync-1', limit: 1_001 };
    const refused = serviceOf(await startedSandbox()).getMappings(query);
    await expect(refused).rejects.toMatchObject({ statusCode: 2012 });
    const allowing = serviceOf(await startedSandbox({ maxLimit: 2_000 }));
    expect((await allowing.getMappings(query)).skipped).toEqual([]);
  });

  it('recognises an expired key', async () => {
    await expect(readAll({ faults: ['refuse:2027@2'] })).rejects.toMatchObject({ statusCode: 2027 });
  });

  it('reads the brands and requests an export', async () => {
    const sandbox = await startedSandbox();
    const service = serviceOf(sandbox);
    expect((await service.getMasterHotelBrands()).length).toBeGreaterThan(24);
    await service.exportMappingsFile({
      emailId: 'ann@agency.example',
      providers: ['Sakura', 'Room & Co'],
    });
    await expect(
      service.exportMappingsFile({ emailId: 'ann@agency.example', providers: ['Roomly'] }),
    ).rejects.toMatchObject({ statusCode: 2011 });
    await expect
      .poll(() => sandbox.told.filter((line) => line.includes('.csv: written')).length, {
        timeout: patienceMs,
      })
      .toBe(1);
  });
});
