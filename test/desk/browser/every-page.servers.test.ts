import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../src/desk/desk.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { useBrowser } from '../../support/browser.js';
import { chromiumNeeds } from '../../support/chromium.js';
import { openDesk, type RunningDesk } from '../../support/desk-month/desk.js';
import { type DeskMonth, makeDeskMonth, monthLimitMs } from '../../support/desk-month/month.js';
import { findSamples, type Samples } from '../../support/desk-month/samples.js';
import { now, startDesk } from '../some-desk.js';
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
}, monthLimitMs);
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
const listOtherStates = () => [
  ...(['missing', 'awaiting', 'unanswered'] as const).map((course) => `/days/${month.dayOf(course)}`),
  ...[`/runs/${samples.fileRun}`, `/runs/${samples.fileRun}/affected`],
  `/days/${month.dayOf('dropped')}/run?volume=accepted`,
  `/days/${month.dayOf('awaiting')}/look`,
  '/replay?from=2026-10-25&to=2026-11-22&which=failed',
  ...['assign', 'dismiss'].map((kind) => `/cases/change?do=${kind}&id=${samples.nearestCase}`),
  ...['/cases?text=nothing-of-that-name', '/bookings?reference=BR-none'],
];

/** The paths of all pages and previews. */
const pages = routes.flatMap(({ kind, path }) => (kind === 'page' || kind === 'action' ? [path] : []));
/** Those that are laid out in a way of their own on a phone; all others are made of the same parts. */
const ownLayouts = new Set(['/', '/days/:day', '/runs/:id', '/replay', '/bookings', '/cases', '/cases/:id']);

describe('Axe finds nothing, and nothing scrolls sideways,', () => {
  it('on the first page and preview of each path, and on a phone in the dark where that differs', async () => {
    const page = await browser.open();
    expect(await examine(page, `${desk.url}/sign-in`, { names: ['wide', 'phone'] })).toEqual([]);
    await signIn(page, desk, 'admin');
    const problems: string[] = [];
    for (const path of pages) {
      const names = ownLayouts.has(path) ? (['wide', 'phone'] as const) : (['wide'] as const);
      problems.push(...(await examine(page, desk.url + toAddress(path), { names })));
    }
    for (const address of listOtherStates()) problems.push(...(await examine(page, desk.url + address)));
    expect(problems).toEqual([]);
  });

  it('on pages of errors', async () => {
    const page = await browser.open();
    await signIn(page, desk, 'viewer');
    const problems: string[] = [];
    for (const [address, status] of [
      ['/runs/none', 404],
      ['/cases?state=unheard-of', 400],
      ['/audit', 403],
    ] as const)
      problems.push(...(await examine(page, desk.url + address, { status })));
    expect(problems).toEqual([]);
  });

  it('on pages of an empty ledger', async () => {
    const ledger = await openTemporaryLedger(() => now);
    const { url } = await startDesk({ ledger, role: 'admin' });
    const page = await browser.open();
    const problems: string[] = [];
    for (const path of pages.filter((one) => !/:id|:name|^\/cases\/change/.test(one)))
      problems.push(...(await examine(page, url + path.replace(':day', '2026-11-20'))));
    expect(problems).toEqual([]);
  });
});
