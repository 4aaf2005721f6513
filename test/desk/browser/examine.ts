import type { Page } from 'playwright-core';
import { findAxeViolations } from '../../support/browser.js';

/** Each in one colour scheme: the other window has the contrast of the other one. */
const windows = {
  wide: { size: { width: 1_280, height: 900 }, colorScheme: 'light' },
  phone: { size: { width: 390, height: 844 }, colorScheme: 'dark' },
} as const;

/** By how many pixels a page has to be scrolled sideways. */
const overflow = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)';

/** What is wrong with a page: what axe finds, and whether it is wider than the window. */
export async function examine(
  page: Page,
  address: string,
  {
    status = 200,
    names = ['wide'],
  }: { readonly status?: number; readonly names?: readonly (keyof typeof windows)[] } = {},
): Promise<readonly string[]> {
  const answer = await page.goto(address);
  const problems: string[] = [];
  if (answer?.status() !== status)
    problems.push(`${answer?.status()} instead of ${status}: ${await page.innerText('main')}`);
  for (const name of names) {
    const { size, colorScheme } = windows[name];
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    for (const words of await findAxeViolations(page)) problems.push(`${name}, ${colorScheme}: ${words}`);
    const pixels = await page.evaluate<number>(overflow);
    if (pixels > 0) problems.push(`${name}: ${pixels} pixels wider than the window`);
  }
  return problems.map((problem) => `${new URL(address).pathname}: ${problem}`);
}
