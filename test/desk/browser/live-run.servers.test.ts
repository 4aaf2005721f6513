import { expect, it } from 'vitest';
import { reviewDay } from '../../../src/review/review-day.js';
import { ok } from '../../review/scripted-service.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { prepareWork, requestOf, unstopped } from '../../review/working-day.js';
import { useBrowser } from '../../support/browser.js';
import { createGate } from '../../support/gate.js';
import { startDesk } from '../some-desk.js';

const browser = useBrowser();
/** A run whose three batches the service answers one by one, when the test allows it. */
async function startRun() {
  const [asked, ...gates] = [createGate(), createGate(), createGate(), createGate()];
  const ledger = await openTemporaryLedger();
  let calls = 0;
  const work = await prepareWork({
    ledger,
    bookings: 6,
    batchSize: 2,
    async answer() {
      const gate = gates[calls];
      calls += 1;
      asked?.open();
      await gate?.passed;
      return ok;
    },
  });
  const running = reviewDay(requestOf(), work.startAlone().parts, unstopped);
  await asked?.passed;
  const [run] = await ledger.runs.listActive();
  const { url } = await startDesk({ ledger, clock: Date.now });
  return {
    address: `${url}/runs/${run?.id}`,
    answer: (batch: number) => gates[batch]?.open(),
    ended: running,
  };
}

it('The page of a run updates itself to the end of the run', async () => {
  const { address, answer, ended } = await startRun();
  const page = await browser.open();
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  await page.goto(address);
  const looked = await page.waitForRequest((request) => request.resourceType() === 'fetch');
  // Such a look does not keep a session alive.
  expect((await looked.allHeaders())['sec-fetch-dest']).toBe('empty');
  const main = page.getByRole('main');
  await main.getByText('0 of 6').waitFor();
  const unchanged = await main.getByRole('heading', { name: 'Steps' }).elementHandle();
  answer(0);
  await main.getByText('2 of 6').waitFor();
  // Only what has changed is replaced.
  expect(await unchanged?.evaluate((element) => element.isConnected)).toBe(true);
  answer(1);
  await main.getByText('4 of 6').waitFor();
  expect(loads).toBe(1);
  const reloaded = page.waitForEvent('load');
  answer(2);
  await main.getByText('Sent for review.').first().waitFor();
  // The end changes more than the live part.
  await reloaded;
  expect(loads).toBe(2);
  expect(await page.locator('[data-live], progress').count()).toBe(0);
  await ended;
});
