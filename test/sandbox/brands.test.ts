import { expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/world/world.js';
import { brandsPath, describeBrands } from './asking-clients.js';
import { nodeHttp } from './http-clients.js';
import { askJson, startedSandbox } from './started-sandbox.js';

describeBrands(nodeHttp);

it('the brands are the same in the same world, and differ in another', async () => {
  const [one, same, other] = await Promise.all(
    [1, 1, 2].map(async (seed) =>
      askJson(await startedSandbox({ world: createWorld({ seed, hotels: 10 }) }), brandsPath),
    ),
  );
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
});
