import { expect, it } from 'vitest';
import { startServer } from './some-server.js';

const token = '3f8a1c0b7d2e9645aa01bc23';

it('The metrics need the configured token, and nothing else does', async () => {
  const { url, logged } = await startServer({ metricsToken: token });
  const scrape = (headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers });
  const right = await scrape({ authorization: `Bearer ${token}` });
  expect([right.status, await right.text()]).toEqual([200, expect.stringContaining('hotel_review_')]);
  for (const authorization of [
    '',
    'Bearer',
    `Basic ${token}`,
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
  ]) {
    const answer = await scrape({ authorization });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await answer.text()).not.toContain('hotel_review_');
  }
  expect((await scrape()).status).toBe(401);
  for (const probe of ['/healthz', '/readyz']) expect((await fetch(url + probe)).status).toBe(200);
  expect(JSON.stringify(logged)).not.toContain(token);
});
