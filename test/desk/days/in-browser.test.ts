import { afterEach, expect, it } from 'vitest';
import { expectNoAxeViolations, useBrowser } from '../../support/browser.js';
import { now, runsOnly, startDesk, stopServers } from '../some-desk.js';
import { listDays, nightlyRun } from './some-days.js';

const browser = useBrowser();
afterEach(stopServers);

const days = listDays('2026-08-01', 112);
const runs = days.flatMap((day, index) => {
  if (index % 10 === 3) return [];
  const changes = [
    {},
    { state: 'failed', failure: { class: 'data', code: 'missing', message: 'The source is missing.' } },
    { state: 'delivering' },
    { trigger: 'replay', counts: { affected: 3 } },
    { delivery: 'body', counts: { affected: null, unanswered: null } },
  ] as const;
  return [nightlyRun(day, index > 90 ? changes[index % changes.length] : {})];
});

function startDays() {
  const ledger = {
    ...runsOnly(runs),
    summarise: async () => ({ runsByState: {} as never, firstDay: days[0] ?? '' }),
  };
  return startDesk({ ledger, role: 'operator', clock: () => now });
}

it.each([
  { size: 'wide', colours: 'dark' },
  { size: 'phone', colours: 'light' },
] as const)('axe finds nothing, and nothing scrolls sideways: %o', async (view) => {
  const { url } = await startDays();
  const page = await browser.open(view);
  for (const path of ['/', '/?select=failed']) {
    await page.goto(url + path);
    await expectNoAxeViolations(page);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
});

it('A day says what it is by keyboard, without a script, and a selection leads to its replay', async () => {
  const { url } = await startDays();
  const page = await browser.open({ javaScript: false });
  await page.goto(url);
  const cell = page.locator('.month a.bad').first();
  await cell.focus();
  expect(await page.evaluate('getComputedStyle(document.activeElement, "::after").display')).toBe('block');
  await page.getByRole('link', { name: /^\d+ missing$/ }).click();
  expect(await page.locator('input:checked').count()).toBe(11);
  await page.getByRole('checkbox', { name: '20 Nov' }).check();
  await page.getByRole('button', { name: 'Preview the replay…' }).first().click();
  const { pathname, searchParams } = new URL(page.url());
  expect([pathname, searchParams.getAll('days').length]).toEqual(['/replay', 12]);
});
