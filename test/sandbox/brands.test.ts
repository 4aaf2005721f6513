import { describe, expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import { curl, nodeHttp, urllib } from './http-clients.js';
import { askJson, startedSandbox } from './started-sandbox.js';

interface GivenBrands {
  readonly HotelBrands: readonly {
    readonly Id: number;
    readonly BrandCode: string;
    readonly BrandName: string;
    readonly ChainId: number;
  }[];
}

const path = '/content/GetMasterHotelBrands';

describe.each([nodeHttp, curl, urllib])('the brands, requested with $name', (client) => {
  const { needs } = client;
  const title = 'are the complete list, each with its chain';
  it.skipIf(needs !== undefined)(needs === undefined ? title : `${title} (${needs})`, async () => {
    const { HotelBrands: brands, ...envelope } = (await askJson(
      await startedSandbox(),
      path,
      {},
      client,
    )) as GivenBrands;
    expect(envelope).toEqual({ Status: true, Message: expect.any(String), StatusCode: 2000 });
    for (const brand of brands) {
      expect(brand).toEqual({
        Id: expect.any(Number),
        BrandCode: expect.stringMatching(/^[A-Z]{2}\d{1,2}[A-F]$/),
        BrandName: expect.stringMatching(/\S/),
        ChainId: expect.any(Number),
      });
    }
    expect(new Set(brands.map(({ Id }) => Id)).size).toBe(brands.length);
    expect(new Set(brands.map(({ BrandCode }) => BrandCode)).size).toBe(brands.length);
    expect(new Set(brands.map(({ ChainId }) => ChainId)).size).toBe(24);
  });
});

it('the brands are the same in the same world, and differ in another', async () => {
  const [one, same, other] = await Promise.all(
    [1, 1, 2].map(async (seed) =>
      askJson(await startedSandbox({ world: createWorld({ seed, hotels: 10 }) }), path),
    ),
  );
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
});
