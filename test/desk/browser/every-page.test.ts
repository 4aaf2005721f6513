import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNoAxeViolations, findAxeViolations, useBrowser } from '../../support/browser.js';
import { chromiumNeeds } from '../../support/chromium.js';
import { openDesk, type RunningDesk } from '../../support/desk-month/desk.js';
import { type DeskMonth, makeDeskMonth } from '../../support/desk-month/month.js';
import { findSamples, type Samples } from '../../support/desk-month/samples.js';
import { signIn } from './sign-in.js';

const browser = useBrowser();
let month: DeskMonth;
let desk: RunningDesk;
let samples: Samples;
beforeAll(async () => {
  if (chromiumNeeds !== undefined) return;
  month = await makeDeskMonth({ today: '2026-11-23', bookingsADay: 40, wrongADay: 3 });
  samples = await findSamples(month);
  desk = await openDesk(month);
});
afterAll(async () => {
  await desk?.close();
  await month?.close();
});

/** What stands in the month for the parameters of a path. */
const parameters: readonly (readonly [string, () => string | number])[] = [
  ['{day}', () => samples.failedDay],
  ['/runs/{id}', () => `/runs/${samples.failedRun}`],
  ['/cases/{id}', () => `/cases/${samples.nearestCase}`],
  ['/providers/{name}', () => `/providers/${encodeURIComponent(samples.providerName)}`],
  ['{reference}', () => samples.reference],
];

/** Of paths that show little, or nothing, without it. */
const queries: Readonly<Record<string, () => string>> = {
  '/bookings': () => `reference=${samples.reference}`,
  '/mappings': () =>
    new URLSearchParams({ provider: samples.providerName, hotel: samples.providerHotelId }).toString(),
  '/cases/change': () => `do=report&id=${samples.nearestCase}`,
};

function toAddress(path: string): string {
  const address = parameters.reduce((text, [name, value]) => text.replace(name, String(value())), path);
  const query = queries[path]?.();
  return query === undefined ? address : `${address}?${query}`;
}

interface Described {
  readonly paths: Readonly<
    Record<string, { readonly get: { readonly responses: { readonly 200: { readonly content: object } } } }>
  >;
}

/** All that are pages, with the description itself. */
async function listPages(page: Page): Promise<readonly string[]> {
  const answer = await page.request.get(`${desk.url}/openapi.json`, {
    headers: { accept: 'application/json' },
  });
  const { paths } = (await answer.json()) as Described;
  return Object.keys(paths).filter(
    (path) => 'application/json' in (paths[path]?.get.responses[200].content ?? {}),
  );
}

it.each([
  { size: 'wide', colours: 'light' },
  { size: 'phone', colours: 'dark' },
] as const)(
  'Axe finds nothing on any page, $size and $colours, and none is wider than the window',
  async (view) => {
    const page = await browser.open(view);
    await page.goto(`${desk.url}/sign-in`);
    await expectNoAxeViolations(page);
    await signIn(page, desk, 'admin');
    const problems: string[] = [];
    for (const path of await listPages(page)) {
      const answer = await page.goto(desk.url + toAddress(path));
      if (answer?.status() !== 200)
        problems.push(`${path}: ${answer?.status()} ${await page.innerText('main')}`);
      problems.push(...(await findAxeViolations(page)).map((words) => `${path}: ${words}`));
      const pixels = await overflow(page);
      if (pixels > 0) problems.push(`${path}: ${pixels} pixels wider than the window`);
    }
    expect(problems).toEqual([]);
  },
);

/** By how many pixels a page has to be scrolled sideways. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(
    '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)',
  );
}
