import { expect, it, onTestFinished } from 'vitest';
import { openMappingService, openReviewService } from '../../jobs/parts.js';
import { composeCollect } from '../../jobs/review.js';
import { checkIncomplete } from '../../src/rules/gates.js';
import { parse, source } from '../config/writing.js';

it('The service is asked through the proxy of the environment, for reviews and for mappings', async () => {
  const retry = { tries: 1, baseSeconds: 0.01, capSeconds: 0.01 };
  const config = parse({ retry }, { HTTPS_PROXY: 'http://127.0.0.1:1' });
  const { signal } = new AbortController();
  const reviews = openReviewService(config);
  onTestFinished(() => reviews.close());
  const { result } = await reviews.call({ method: 'GET', path: '/' }, { signal });
  expect(result.code).toBe('proxy-unreachable');
  const mappings = openMappingService(config);
  onTestFinished(() => mappings.close());
  await expect(mappings.getMasterHotelBrands({ signal })).rejects.toThrow(/proxy.unreachable/);
});

/** Bookings that lack nothing, the provider, its hotel id, both. */
it.each([
  ['ProviderName', [0, 20, 0, 0], [0, 0, 20, 0]],
  ['ProviderHotelId', [0, 0, 20, 0], [0, 20, 0, 0]],
])(
  'A day whose source has no %s, as it says, does not fail for lacking it, but still for lacking the other field of the hotel',
  async (field, lacking, lackingOther) => {
    const config = parse({ source: { ...source, columns: { [field]: false } } });
    const { limits } = await composeCollect(config, { say() {}, showsModuleErrors: false });
    expect(() => checkIncomplete(lacking, limits, 'day.csv')).not.toThrow();
    expect(() => checkIncomplete(lackingOther, limits, 'day.csv')).toThrow('maxIncompleteShare');
  },
);
