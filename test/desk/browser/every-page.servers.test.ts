import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../src/desk/desk.js';
import { useBrowser } from '../../support/browser.js';
import { chromiumNeeds } from '../../support/chromium.js';
import { openDesk, type RunningDesk } from '../../support/desk-month/desk.js';
import { type DeskMonth, makeDeskMonth } from '../../support/desk-month/month.js';
import { findSamples, type Samples } from '../../support/desk-month/samples.js';
import { examine } from './examine.js';
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

/** Values from the month for the parameters of a path. */
const parameters: readonly (readonly [string, () => string | number])[] = [
  [':day', () => samples.failedDay],
  ['/runs/:id', () => `/runs/${samples.failedRun}`],
  ['/cases/:id', () => `/cases/${samples.nearestCase}`],
  ['/providers/:name', () => `/providers/${encodeURIComponent(samples.providerName)}`],
];

/** The queries of paths that show little or nothing without one. */
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

/** Pages and previews in other states than the first of each path. */
const otherStates: Readonly<Record<string, () => readonly string[]>> = {
  'days and runs': () => [
    ...(['missing', 'awaiting', 'cancelled', 'unanswered', 'topped-up', 'refused'] as const).map(
      (course) => `/days/${month.dayOf(course)}`,
    ),
    `/runs/${samples.fileRun}`,
    `/runs/${samples.fileRun}/affected`,
  ],
  'previews of operations': () => [
    `/days/${month.dayOf('missing')}/run`,
    `/days/${month.dayOf('dropped')}/run?volume=accepted`,
    `/days/${month.dayOf('awaiting')}/look`,
    `/days/${month.dayOf('awaiting')}/cancel`,
    `/days/${month.dayOf('good')}/replay?which=late`,
    '/replay?from=2026-10-25&to=2026-11-22&which=failed',
  ],
  'cases and bookings': () => [
    ...['assign', 'note', 'dismiss', 'reopen'].map(
      (kind) => `/cases/change?do=${kind}&id=${samples.nearestCase}`,
    ),
    '/cases?state=all',
    '/cases?text=nothing-of-that-name',
    '/bookings?reference=BR-none',
  ],
};

/** The paths of all pages and previews. */
const pages = routes.flatMap(({ kind, path }) => (kind === 'page' || kind === 'action' ? [path] : []));

async function examineAll(page: Page, addresses: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const address of addresses) problems.push(...(await examine(page, desk.url + address)));
  return problems;
}

describe('Axe finds nothing, and nothing scrolls sideways, wide and on a phone, light and dark', () => {
  it('on the first page and preview of each path', async () => {
    const page = await browser.open();
    expect(await examine(page, `${desk.url}/sign-in`)).toEqual([]);
    await signIn(page, desk, 'admin');
    expect(await examineAll(page, pages.map(toAddress))).toEqual([]);
  });

  it.each(Object.entries(otherStates))('on %s in other states', async (_, listAddresses) => {
    const page = await browser.open();
    await signIn(page, desk, 'admin');
    expect(await examineAll(page, listAddresses())).toEqual([]);
  });

  it('on pages of errors', async () => {
    const page = await browser.open();
    await signIn(page, desk, 'viewer');
    const problems: string[] = [];
    for (const [address, status] of [
      ['/nothing-here', 404],
      ['/runs/none', 404],
      ['/days/2026-02-30', 400],
      ['/cases?state=unheard-of', 400],
      ['/audit', 403],
      [`/days/${samples.failedDay}/replay`, 403],
    ] as const)
      problems.push(...(await examine(page, desk.url + address, status)));
    expect(problems).toEqual([]);
  });
});
