import type { Page } from 'playwright-core';
import type { Role } from '../../../src/storage/access/roles.js';
import type { RunningDesk } from '../../support/desk-month/desk.js';
import { passwordOfPeople, people } from '../../support/desk-month/people.js';

/** Signs in as a user with that role, starting at the days. */
export async function signIn(page: Page, { url }: RunningDesk, role: Role): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Name').fill(people[role]);
  await page.getByLabel('Password').fill(passwordOfPeople);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
