import { expect, it } from 'vitest';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { useBrowser } from '../../support/browser.js';
import { now, startDesk } from '../some-desk.js';
import { hotels, loadHotels, openCases, threeCases } from './some-cases.js';

const browser = useBrowser();
it('All cases of a page are chosen by a box and reported', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
  const { url } = await startDesk({ ledger, role: 'team' });
  const page = await browser.open({ size: 'phone', colours: 'dark' });
  await page.goto(`${url}/cases?provider=hotelbeds`);
  await page.getByRole('checkbox', { name: 'Choose all cases of this page' }).check();
  await page.getByRole('button', { name: 'Report', exact: true }).click();
  await page.getByLabel('Note').fill('ticket 9');
  await page.getByRole('button', { name: 'Report 2 cases' }).click();
  await page.getByText('2 cases are reported.').waitFor();
  expect(page.url()).toBe(`${url}/cases?provider=hotelbeds`);
  expect(await ledger.cases.find(1)).toMatchObject({ state: 'reported', note: 'ticket 9' });
  expect(await ledger.cases.find(3)).toMatchObject({ state: 'reported' });
});
