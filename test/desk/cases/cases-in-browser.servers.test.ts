import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { expectNoAxeViolations, useBrowser } from '../../support/browser.js';
import { useKeyboard } from '../browser/keyboard.js';
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

it('The list and its cases are usable by keyboard, and a box chooses all cases of the page', async () => {
  const { url } = await startDesk({ ledger, role: 'team' });
  const page = await browser.open();
  const { press, tabTo } = useKeyboard(page);
  await page.goto(`${url}/cases`);
  await tabTo('Choose all cases of this page');
  await press('Space');
  for (const id of [1, 2, 3])
    expect(await page.getByRole('checkbox', { name: `Choose case ${id}` }).isChecked()).toBe(true);
  await expectNoAxeViolations(page);
  await tabTo('Park Inn');
  await press('Enter');
  await page.waitForURL(`${url}/cases/2`);
  await tabTo('Resolve bookings');
  await press('Enter');
  await page.waitForURL(`${url}/cases/2#bookings`);
  await tabTo('Choose BR-3');
  await expectNoAxeViolations(page);
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
