import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { expectNoAxeViolations, useBrowser } from '../../support/browser.js';
import { now, startDesk, stopServers } from '../some-desk.js';
import { hotels, loadHotels, openCases, threeCases } from './some-cases.js';

const browser = useBrowser();
let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
});
afterEach(stopServers);

/** The link or the field that has the focus. */
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.getAttribute("href") ?? document.activeElement.name ?? ""');

it('The list is worked through with keys, which do nothing while somebody is typing', async () => {
  const { url } = await startDesk({ ledger, role: 'team' });
  const page = await browser.open();
  const { keyboard } = page;
  await page.goto(`${url}/cases`);
  await keyboard.press('j');
  await keyboard.press('j');
  expect(await focused(page)).toBe('/cases/3');
  await keyboard.press('k');
  expect(await focused(page)).toBe('/cases/2');
  await keyboard.press('x');
  expect(await page.getByRole('checkbox', { name: 'Choose case 2' }).isChecked()).toBe(true);
  expect(await page.locator('[data-announcer]').textContent()).toBe('Choose case 2: yes. 1 chosen.');
  await keyboard.press('Control+j');
  expect(await focused(page)).toBe('/cases/2');

  await keyboard.press('?');
  expect(await page.getByRole('dialog', { name: 'Keyboard' }).isVisible()).toBe(true);
  await expectNoAxeViolations(page);
  await keyboard.press('Escape');

  await keyboard.press('/');
  expect(await focused(page)).toBe('text');
  await keyboard.type('jekx/?');
  expect(await page.getByLabel('Hotel or booking').inputValue()).toBe('jekx/?');
  expect(await page.getByRole('dialog').isVisible()).toBe(false);

  await page.goto(`${url}/cases`);
  await keyboard.press('j');
  await keyboard.press('Enter');
  await page.waitForURL(`${url}/cases/2`);
  await keyboard.press('e');
  await page.waitForURL(`${url}/cases/2#bookings`);
});

it('The keys can be switched off', async () => {
  const { url } = await startDesk({ ledger, role: 'team' });
  const page = await browser.open();
  await page.goto(`${url}/cases`);
  await page.getByRole('button', { name: 'Keyboard' }).click();
  await page.getByLabel('Use these keys').uncheck();
  await page.goto(`${url}/cases/1`);
  await page.keyboard.press('e');
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('');
  expect(page.url()).toBe(`${url}/cases/1`);
});

it.each([
  { size: 'wide', javaScript: false },
  { size: 'phone', javaScript: true, colours: 'dark' },
] as const)('Cases are chosen, reported, and their bookings resolved: %o', async (view) => {
  const { url } = await startDesk({ ledger, role: 'team' });
  const page = await browser.open(view);
  await page.goto(`${url}/cases?provider=hotelbeds`);
  await page.getByRole('checkbox', { name: 'Choose case 1' }).check();
  await page.getByRole('checkbox', { name: 'Choose case 3' }).check();
  await page.getByRole('button', { name: 'Report', exact: true }).click();
  await page.getByLabel('Note').fill('ticket 9');
  await page.getByRole('button', { name: 'Report 2 cases' }).click();
  await page.getByText('2 cases are reported.').waitFor();
  expect(page.url()).toBe(`${url}/cases?provider=hotelbeds`);
  await page.getByRole('link', { name: 'Grand Plaza' }).click();
  await page.getByRole('checkbox', { name: 'Choose BR-2' }).check();
  expect(await page.getByRole('checkbox', { name: 'BR-1' }).isChecked()).toBe(false);
  await page.getByLabel('rebooked').check();
  await page.getByRole('button', { name: 'Resolve the chosen bookings' }).click();
  await page.getByText('1 booking of case 1 is rebooked.').waitFor();
  expect(await ledger.cases.find(1)).toMatchObject({
    ...{ state: 'reported', note: 'ticket 9' },
    bookings: [{ reference: 'BR-1' }, { resolved: { as: 'rebooked' } }, { place: 3 }],
  });
  expect(await ledger.cases.find(3)).toMatchObject({ state: 'reported' });
});
