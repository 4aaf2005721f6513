import { expect, it, onTestFinished } from 'vitest';
import { openMappingService, openReviewService } from '../../jobs/parts.js';
import { parse } from '../config/writing.js';

it('The service is asked through the proxy of the environment, for reviews and for mappings', async () => {
  const retry = { tries: 1, baseSeconds: 0.01, capSeconds: 0.01 };
  const config = parse({ retry }, { HTTPS_PROXY: 'http://127.0.0.1:1' });
  const { signal } = new AbortController();
  const reviews = openReviewService(config);
  onTestFinished(() => reviews.close());
  const { verdict } = await reviews.call({ method: 'GET', path: '/' }, { signal });
  expect(verdict.code).toBe('proxy-unreachable');
  const mappings = openMappingService(config);
  onTestFinished(() => mappings.close());
  await expect(mappings.getMasterHotelBrands({ signal })).rejects.toThrow(/proxy.unreachable/);
});
