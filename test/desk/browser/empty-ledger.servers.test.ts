import { afterEach, expect, it } from 'vitest';
import { createAccess } from '../../../src/desk/access/access.js';
import { routes } from '../../../src/desk/desk.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { useBrowser } from '../../support/browser.js';
import { now, startDesk, stopServers } from '../some-desk.js';
import { examine } from './examine.js';

const browser = useBrowser();
afterEach(stopServers);

/** Each page and preview, about things that the ledger does not have. */
const shown = routes
  .filter(({ kind }) => kind === 'page' || kind === 'action')
  .map(({ path, permission }) => ({
    address: path
      .replace(':day', '2026-11-20')
      .replace('/cases/:id', '/cases/1')
      .replace('/cases/change', '/cases/change?do=report&id=1')
      .replace(/:\w+/, 'none'),
    permission,
  }));

/** There is no run and no case; the page of a provider says that nothing is known. */
const statusOf = (address: string) => (/^\/(?:runs\/none|cases\/1|cases\/change)/.test(address) ? 404 : 200);

/** One of each permission: what differs from the first test is the same on all of them. */
const shownToNobody = shown.filter(
  ({ permission }, place) => place === shown.findIndex((other) => other.permission === permission),
);

it('Axe finds nothing on any page over an empty ledger, and none scrolls sideways', async () => {
  const { url } = await startDesk({ ledger: await openTemporaryLedger(() => now), role: 'admin' });
  const page = await browser.open();
  const problems: string[] = [];
  for (const { address } of shown) problems.push(...(await examine(page, url + address, statusOf(address))));
  expect(problems).toEqual([]);
});

it('Nor on pages that everybody may read while there are no users, nor on refused ones', async () => {
  const access = createAccess({ isLocal: true, idleMs: 60_000, clock: () => now });
  const { url } = await startDesk({ ledger: await openTemporaryLedger(() => now), access });
  const page = await browser.open();
  const problems: string[] = [];
  for (const { address, permission } of shownToNobody) {
    const status = permission === 'look' ? statusOf(address) : 403;
    problems.push(...(await examine(page, url + address, status)));
    if (status === 200) expect(await page.innerText('header')).toContain('hotel-review user add');
  }
  expect(problems).toEqual([]);
  const remote = createAccess({ isLocal: false, idleMs: 60_000, clock: () => now });
  const closed = await startDesk({ ledger: await openTemporaryLedger(() => now), access: remote });
  expect(await examine(page, `${closed.url}/`, 403)).toEqual([]);
  expect(await page.innerText('main')).toContain('hotel-review user add');
});
