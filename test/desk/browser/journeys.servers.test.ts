import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { showDay } from '../../../src/desk/parts.js';
import { useBrowser } from '../../support/browser.js';
import { chromiumNeeds, type View } from '../../support/chromium.js';
import { openDesk, type RunningDesk } from '../../support/desk-month/desk.js';
import { type DeskMonth, makeDeskMonth, monthLimitMs } from '../../support/desk-month/month.js';
import { passwordOfPeople, people } from '../../support/desk-month/people.js';
import { useKeyboard } from './keyboard.js';
import { signIn } from './sign-in.js';

/** A failed day for each journey. */
const failedDays = ['2026-11-22', '2026-11-19', '2026-11-17'] as const;

const browser = useBrowser();
let month: DeskMonth;
let desk: RunningDesk;
beforeAll(async () => {
  if (chromiumNeeds !== undefined) return;
  month = await makeDeskMonth({
    ...{ today: '2026-11-23', days: 14, bookingsADay: 40, wrongADay: 3 },
    outages: [4, 6, 8],
  });
  desk = await openDesk(month);
}, monthLimitMs);
afterAll(async () => {
  await desk?.close();
  await month?.close();
});

const views: readonly (View & { readonly name: string })[] = [
  { name: 'on a phone', size: 'phone', colours: 'dark' },
  { name: 'without JavaScript', javaScript: false },
];

it.each(views.map((view, place) => ({ ...view, day: failedDays[place] ?? '' })))(
  'A failed day can be replayed and the nearest case resolved $name',
  async ({ name, day, ...view }) => {
    const page = await browser.open(view);
    await signIn(page, desk, 'admin');
    await openFailedDay(page, day);
    await replay(page, day);
    await page.getByRole('table').first().getByRole('link').first().click();
    await watchToTheEnd(page, { moves: view.javaScript !== false });
    await page.goto(`${desk.url}/days/${day}`);
    await page.getByRole('main').getByText('sent', { exact: true }).first().waitFor();
    const id = await openNearestCase(page);
    await resolveBooking(page, id);
    await report(page, id);
    await exportCases(page, id);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${desk.url}/cases/${id}`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  },
);

it('The same by keyboard alone', async () => {
  const day = failedDays[2];
  const page = await browser.open();
  const { press, type, tabTo } = useKeyboard(page);
  const follow = async (name: string | RegExp) => {
    await tabTo(name);
    await press('Enter');
  };
  await page.goto(desk.url);
  await type(people.admin);
  await tabTo('Password');
  await type(passwordOfPeople);
  await press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();

  await follow(titleOfCell(day));
  await readWhy(page, day);
  askForPatience();
  await follow('Replay');
  await page.getByText('A new run collects the day and sends all of it again.').waitFor();
  await tabTo('Reason');
  await type('the service is back');
  await follow(`Replay ${showDay(day)}`);
  await page.getByRole('status').waitFor();
  await follow(new RegExp(`^${day.replaceAll('-', '')}-`));
  await watchToTheEnd(page, { moves: true });

  await follow('Cases');
  await page.getByRole('heading', { name: 'Cases' }).waitFor();
  await follow(await page.getByRole('row').nth(1).getByRole('link').first().innerText());
  await page.getByRole('heading', { name: 'The two hotels' }).waitFor();
  const id = idOfCase(page);
  await follow('Resolve bookings');
  await page.waitForURL(/#bookings$/);
  await tabTo(/^Choose BR-/);
  const isChosen = await page
    .getByRole('checkbox', { name: /^Choose BR-/ })
    .first()
    .isChecked();
  if (!isChosen) await press('Space');
  await tabTo(/^rebooked/);
  await press('Space');
  await follow('Resolve the chosen bookings');
  await page.getByText(`1 booking of case ${id} is rebooked.`).waitFor();
  await follow('Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

/** By its cell in the calendar, whose title says why before a click. */
async function openFailedDay(page: Page, day: string): Promise<void> {
  await page.goto(desk.url);
  await page.getByTitle(titleOfCell(day)).click();
  await readWhy(page, day);
}

/** 22 Nov 2026: needs attention: ... */
function titleOfCell(day: string): RegExp {
  return new RegExp(`^${showDay(day)}: needs attention: The run fa`);
}

async function readWhy(page: Page, day: string): Promise<void> {
  await page.getByRole('heading', { name: showDay(day) }).waitFor();
  expect(await page.getByRole('main').innerText()).toMatch(/batch 0 failed with http-503/);
}

/** Makes the service ask for patience until the run was seen in progress. */
function askForPatience(): void {
  month.faults.nextCall = (operation) =>
    operation === 'by-body' ? { kind: 'status', status: 429, retryAfterSeconds: 3 } : undefined;
}

async function replay(page: Page, day: string): Promise<void> {
  askForPatience();
  await page.getByRole('link', { name: 'Replay', exact: true }).click();
  await page.getByText('A new run collects the day and sends all of it again.').waitFor();
  await page.getByLabel('Reason').fill('the service is back');
  await page.getByRole('button', { name: `Replay ${showDay(day)}` }).click();
  await page.getByRole('status').waitFor();
}

/** Where the page updates itself, nothing is reloaded by hand. */
async function watchToTheEnd(page: Page, { moves }: { readonly moves: boolean }): Promise<void> {
  const main = page.getByRole('main');
  const read = async () => {
    if (!moves) await page.reload();
    return main.innerText();
  };
  // A page that has to be reloaded each time is polled less often.
  const options = { interval: moves ? 50 : 500 };
  await expect.poll(read, options).toMatch(/the service asked for 3 s/);
  month.faults.nextCall = () => undefined;
  await expect.poll(read, options).toMatch(/ sent\b/);
  // The page loads itself once more when its run has ended.
  if (moves) await page.locator('[data-live]').waitFor({ state: 'detached' });
}

/** On a phone, the areas are in a menu. */
async function openMenu(page: Page): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true });
  if (await menu.isVisible()) await menu.click();
}

async function openNearestCase(page: Page): Promise<number> {
  await openMenu(page);
  await page.getByRole('link', { name: 'Cases', exact: true }).click();
  await page.getByLabel('Mapping').selectOption('open');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByRole('heading', { name: 'The two hotels' }).waitFor();
  return idOfCase(page);
}

function idOfCase(page: Page): number {
  return Number(new URL(page.url()).pathname.split('/').at(-1));
}

async function resolveBooking(page: Page, id: number): Promise<void> {
  await page.getByRole('link', { name: 'Resolve bookings' }).click();
  await page
    .getByRole('checkbox', { name: /^Choose BR-/ })
    .first()
    .check();
  await page.getByRole('radio', { name: /^rebooked/ }).check();
  await page.getByLabel('Note').first().fill('moved to the right hotel');
  await page.getByRole('button', { name: 'Resolve the chosen bookings' }).click();
  await page.getByText(`1 booking of case ${id} is rebooked.`).waitFor();
}

async function report(page: Page, id: number): Promise<void> {
  await page.getByRole('button', { name: 'Mark as reported' }).click();
  await page.getByText(`Case ${id} is reported.`).waitFor();
  await expectReported(id);
}

async function expectReported(id: number): Promise<void> {
  const { state } = await month.commands.ask<{ readonly state: string }>(['case', String(id)]);
  expect(state).toBe('reported');
}

async function exportCases(page: Page, id: number): Promise<void> {
  await page.goto(`${desk.url}/cases?state=all`);
  const csv = await download(page, () => page.getByRole('link', { name: 'Download as CSV' }).click());
  expect(csv).toMatch(new RegExp(`^${id},`, 'm'));
}

async function download(page: Page, start: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), start()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
