import { afterEach, expect, it } from 'vitest';
import { createAccess } from '../../src/desk/access/access.js';
import { password, someUsers } from '../access/some-users.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { useBrowser } from '../support/browser.js';
import { now, startDesk, stopServers } from './some-desk.js';

const browser = useBrowser();
afterEach(stopServers);

async function start(users = someUsers()) {
  const access = createAccess({
    users: { read: async () => users },
    isLocal: true,
    idleMs: 60_000,
    clock: () => now,
  });
  return startDesk({ ledger: await openTemporaryLedger(() => now), access });
}

it('People sign in and out with the keyboard alone, and without JavaScript', async () => {
  const { url } = await start();
  const page = await browser.open({ size: 'phone', javaScript: false });
  await page.goto(`${url}/days/2026-11-20`);
  expect(await page.title()).toBe('Sign in · Hotel review');
  await page.keyboard.type('tina');
  await page.keyboard.press('Tab');
  await page.keyboard.type('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').textContent()).toBe('The name or the password is wrong.');
  expect(await page.getByLabel('Name').inputValue()).toBe('tina');
  expect(await page.getByLabel('Password').inputValue()).toBe('');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/days/2026-11-20`);
  await page.getByRole('button', { name: 'Sign out' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/sign-in`);
  await page.goto(`${url}/days/2026-11-20`);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
});

it('A page of another site cannot use the session of somebody who is signed in', async () => {
  const { url } = await start();
  const page = await browser.open();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Name').fill('tina');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto(`data:text/html,<form method="post" action="${url}/sign-out"><button>Go</button></form>`);
  const [answer] = await Promise.all([
    page.waitForResponse(`${url}/sign-out`),
    page.getByRole('button', { name: 'Go' }).click(),
  ]);
  expect(answer.request().headers().cookie).toBeUndefined();
  await page.goto(`${url}/days/2026-11-20`);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
});
